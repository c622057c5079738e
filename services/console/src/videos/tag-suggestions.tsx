import './tags.css';

/** Tags that can be chosen instead of typed. Shows nothing without any. */
export function TagSuggestions({
  tags,
  onChoose,
}: {
  tags: readonly string[];
  onChoose: (tag: string) => void;
}) {
  if (tags.length === 0) return null;
  return (
    <ul className="tag-suggestions" aria-label="Suggested tags">
      {tags.map((tag) => (
        <li key={tag}>
          <button type="button" className="tag" title={tag} onClick={() => onChoose(tag)}>
            {tag}
          </button>
        </li>
      ))}
    </ul>
  );
}
