import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { PageTitle } from './page-title.tsx';

export function NotFound({ what }: { what: string }) {
  return (
    <Stack>
      <PageTitle>There is no such {what}</PageTitle>
      <Text>It does not exist, or it was deleted.</Text>
      <Anchor component={Link} href={paths.videos}>
        All videos
      </Anchor>
    </Stack>
  );
}
