/** Mapping properties that decide whether a record is accepted and can be found. */
interface Mapping {
  readonly dynamic?: unknown
  readonly type?: unknown
  /** Target of an alias. */
  readonly path?: unknown
  readonly ignore_malformed?: unknown
  readonly properties?: Readonly<Record<string, Mapping>>
}

/**
 * Returns the differences between a mapping and the wanted one, one per line, such as `url.path: text, not
 * keyword`. Additional fields are ignored.
 */
export function mappingDifferences(actual: object, wanted: object): string[] {
  const lines: string[] = []
  compare({ actual, wanted, path: '' }, lines)
  const dynamic = String((actual as Mapping).dynamic ?? true)
  const wantedDynamic = String((wanted as Mapping).dynamic ?? true)
  if (dynamic !== wantedDynamic) lines.push(`dynamic: ${dynamic}, not ${wantedDynamic}`)
  return lines
}

function compare(
  { actual, wanted, path }: { readonly actual: Mapping; readonly wanted: Mapping; readonly path: string },
  lines: string[],
): void {
  for (const [name, field] of Object.entries(wanted.properties ?? {})) {
    const at = path === '' ? name : `${path}.${name}`
    const found = actual.properties?.[name]
    if (found === undefined) lines.push(`${at}: not mapped`)
    else if (typeOf(found) !== typeOf(field)) lines.push(`${at}: ${typeOf(found)}, not ${typeOf(field)}`)
    else if (field.ignore_malformed === true && String(found.ignore_malformed) !== 'true')
      lines.push(`${at}: rejects malformed values`)
    else compare({ actual: found, wanted: field, path: at }, lines)
  }
}

function typeOf({ type, path }: Mapping): string {
  if (type === 'alias') return `alias of ${path}`
  return typeof type === 'string' ? type : 'object'
}

const COMPARED: readonly string[] = ['index_patterns', 'priority', 'template', '_meta']

/**
 * Returns the differences between an index template and the wanted one, one per line: `path: before ->
 * after`.
 */
export function templateDifferences(current: object, wanted: object): string[] {
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
