/** A long text with its line breaks, which scrolls. */
export function Source({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="plan" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}
