/** The same text for the same JSON value, whatever the order of its members. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  const names = Object.keys(value).sort()
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${canonicalText(value[name as keyof typeof value])}`,
  )
  return `{${members.join()}}`
}
