import { createTheme, MantineProvider, Modal } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { createQueryClient } from './api/query-client.ts';
import { BASE } from './paths.ts';
import { Routes } from './routes.tsx';
import { Shell } from './shell/shell.tsx';
import { SessionGate } from './sign-in/session-gate.tsx';
import './styles.css';
import { ToastProvider } from './ui/toasts.tsx';
import { NewVideosProvider } from './uploads/new-videos.tsx';
import { UploadsProvider } from './uploads/uploads-provider.tsx';

const theme = createTheme({
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The scroll lock would put a <style> into the page, which the Content-Security-Policy refuses.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});

const root = document.querySelector('#root');
if (!root) throw new Error('The page is incomplete');

// The variables and classes of Mantine come from styles.css instead of <style> elements.
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={createQueryClient()}>
        <Router base={BASE}>
          <SessionGate>
            <UploadsProvider>
              <ToastProvider>
                <NewVideosProvider>
                  <Shell>
                    <Routes />
                  </Shell>
                </NewVideosProvider>
              </ToastProvider>
            </UploadsProvider>
          </SessionGate>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
