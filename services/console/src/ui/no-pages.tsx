import { Stack, Text } from '@mantine/core';
import { PageTitle } from './page-title.tsx';

/** For a session that can read nothing. */
export function NoPages() {
  return (
    <Stack>
      <PageTitle>No pages</PageTitle>
      <Text>
        This session has no permission to read anything. Ask an administrator for permissions, then sign in
        again.
      </Text>
    </Stack>
  );
}
