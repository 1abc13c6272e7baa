const COMPARED: readonly string[] = ['index_patterns', 'priority', 'template', '_meta']

/**
 * Returns the differences between an index template and the wanted one, one per line: `path: before ->
 * after`.
 */
export function differences(current: object, wanted: object): string[] {
  const before = leaves(compared(current))
  const after = leaves(compared(wanted))
  const lines: string[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(path)
    const next = after.get(path)
    if (old !== next) lines.push(`${path}: ${old ?? 'none'} -> ${next ?? 'none'}`)
  }
  return lines.sort()
}

function compared(template: object): object {
  return Object.fromEntries(Object.entries(template).filter(([name]) => COMPARED.includes(name)))
}

/**
 * Flattens an object to paths and strings. Elasticsearch returns numbers and booleans as strings, and expands
 * dotted settings to objects.
 */
function leaves(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return found.set(path, String(value))
  for (const [name, member] of Object.entries(value)) {
    leaves(member, path === '' ? name : `${path}.${name}`, found)
  }
  return found
}
