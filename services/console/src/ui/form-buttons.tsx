import { Button, Group } from '@mantine/core';

type FormButtonsProps = {
  cancel: string;
  onCancel: () => void;
  submit: string;
  /** Of the button that submits. */
  color?: string;
  disabled: boolean;
  loading: boolean;
};

/** The buttons at the end of a form in a dialog. */
export function FormButtons({ cancel, onCancel, submit, color, ...state }: FormButtonsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel} disabled={state.loading}>
        {cancel}
      </Button>
      <Button type="submit" {...(color !== undefined && { color })} {...state}>
        {submit}
      </Button>
    </Group>
  );
}
