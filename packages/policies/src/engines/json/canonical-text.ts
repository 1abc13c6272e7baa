/** Returns the same text for equal JSON values, regardless of the order of members. */
export function canonicalText(value: unknown): string {
  // JSON.stringify writes numbers beyond the range of doubles as null.
  if (typeof value === 'number') return String(value === 0 ? 0 : value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  const names = Object.keys(value).sort()
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${canonicalText(value[name as keyof typeof value])}`,
  )
  return `{${members.join()}}`
}
