import { EVALUATING } from './stylesheet-code.js'

const FUNCTIONS = 'http://www.w3.org/2005/xpath-functions'
const SAXON = 'http://saxon.sf.net/'
/** Extension functions of Saxon that only compute. The compiler generates calls to some of them. */
const HARMLESS: ReadonlySet<string> = new Set([
  'apply',
  'column-number',
  'has-uniform-namespaces',
  'line-number',
  'message-count',
  'permute',
  'system-id',
  'timestamp',
])
/** Other namespaces whose functions SaxonJS has. None of these reaches outside. */
const KNOWN: ReadonlySet<string> = new Set(['map', 'array', 'math'].map((name) => `${FUNCTIONS}/${name}`))

/** A node of a compiled stylesheet: `N` is its kind, `name` what it calls or declares, `C` its children. */
interface SefNode {
  readonly N?: unknown
  readonly name?: unknown
}

/**
 * Refuses a compiled stylesheet that calls JavaScript, evaluates text as code or calls unknown functions. Checking
 * the compiled form covers every way to write such a call.
 * @throws Error that names the call
 */
export function refuseCompiledCode(sef: string): void {
  const open: unknown[] = [JSON.parse(sef)]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const call = refusedCall(value)
    if (call !== null) throw new Error(`the stylesheet calls '${call}', which runs code; remove it`)
    open.push(...Object.values(value))
  }
}

/** Returns the name of a forbidden call of a node, or null. */
function refusedCall({ N: kind, name }: SefNode): string | null {
  if (kind === 'evaluate') return 'xsl:evaluate'
  if (typeof name !== 'string') return null
  if (kind === 'fn') return EVALUATING.has(name) ? name : null
  if (kind !== 'ifCall' && kind !== 'fnRef') return name.includes('{http://saxonica.com/') ? name : null
  const [, namespace = '', local = name] = /^Q\{([^}]*)\}(.*)$/.exec(name) ?? []
  if (namespace === FUNCTIONS) return EVALUATING.has(local) ? local : null
  if (namespace === SAXON) return HARMLESS.has(local) ? null : `saxon:${local}`
  if (KNOWN.has(namespace) || namespace === 'http://www.w3.org/2001/XMLSchema') return null
  return name
}
