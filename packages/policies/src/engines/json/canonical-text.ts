/** The same text for the same JSON value, whatever the order of its members. */
export function canonicalText(value: unknown): string {
  // JSON.stringify makes null of what is beyond the range of numbers.
  if (typeof value === 'number') return String(value === 0 ? 0 : value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  const names = Object.keys(value).sort()
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${canonicalText(value[name as keyof typeof value])}`,
  )
  return `{${members.join()}}`
}
