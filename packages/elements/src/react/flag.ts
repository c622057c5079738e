/** An attribute without a value, if it is set. React before 19 would write `true` and `false` as texts. */
export function flag(isSet: boolean | undefined): '' | undefined {
  return isSet ? '' : undefined;
}
