import { permissionWords } from './permission-words.ts';
import './permissions.css';

/** A permission in words, and its name in the API. */
export function Permission({ name }: { name: string }) {
  return (
    <span className="permission">
      {permissionWords(name)} <code>{name}</code>
    </span>
  );
}

/** What a key or a session can do. */
export function Permissions({ names }: { names: readonly string[] }) {
  return (
    <ul className="permissions" aria-label="Permissions">
      {names.map((name) => (
        <li key={name}>
          <Permission name={name} />
        </li>
      ))}
    </ul>
  );
}
