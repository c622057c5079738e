/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
const LONGEST_EMAIL = 254;

/**
 * The form in which email addresses are stored and compared; undefined for a text that is not an address. Only ASCII letters are
 * lowercased. Unicode lowercasing maps some other letters to ASCII, such as the Kelvin sign to k, so that a stranger's address could
 * become the address of a person.
 */
export function normaliseEmail(text: string): string | undefined {
  const email = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return email.length <= LONGEST_EMAIL && /^[^\s\p{Cc}\p{Cf}@]+@[^\s\p{Cc}\p{Cf}@]+$/u.test(email)
    ? email
    : undefined;
}
