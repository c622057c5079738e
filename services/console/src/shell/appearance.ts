import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import Moon from 'lucide-react/icons/moon';
import Sun from 'lucide-react/icons/sun';

/** The appearance that is not shown now, and how to get it. The choice is stored in the browser. */
export function useAppearance() {
  // Without its <style> against transitions, which the Content-Security-Policy refuses.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const isLight = useComputedColorScheme('light') === 'light';
  return isLight
    ? { words: 'Dark appearance', Icon: Moon, switch: () => setColorScheme('dark') }
    : { words: 'Light appearance', Icon: Sun, switch: () => setColorScheme('light') };
}
