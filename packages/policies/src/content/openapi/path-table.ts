import { canonicalPath, decodeReserved } from '@sluice/core'

/** A matched path of the description, with the parameter texts as received. */
interface PathMatch<T> {
  readonly value: T
  readonly texts: ReadonlyMap<string, string>
}

/** A segment with parameters: `{id}`, `{id}.json` or `{from}-{to}`. */
interface Template {
  /** Texts around the parameters, one more than there are parameters. */
  readonly literals: readonly string[]
  readonly names: readonly string[]
}

interface Branch<T> {
  readonly literals: Map<string, Branch<T>>
  readonly templates: { readonly template: Template; readonly branch: Branch<T> }[]
  value: T | null
}

/**
 * The paths of a description as a tree of segments:
 *
 *     /orders ─┬─ /export        a literal goes before a template
 *              └─ /{id} ── /items
 *
 * A search visits each branch at most once, so its time is bounded by the description.
 */
export class PathTable<T> {
  readonly #root: Branch<T> = newBranch()

  /** @throws Error for a duplicate path or an invalid template. */
  add(path: string, value: T): void {
    let branch = this.#root
    for (const segment of path.split('/').slice(1)) branch = childFor(branch, segment)
    if (branch.value !== null) throw new Error(`duplicate path ${path}`)
    branch.value = value
  }

  /**
   * Finds the path of a request. Compares canonical forms, but returns parameters with their escapes.
   * @param path path in its forwardable form, below `basePath`.
   */
  find(path: string, basePath = ''): PathMatch<T> | null {
    return search(this.#root, path.split('/').slice(basePath.split('/').length), [])
  }
}

function newBranch<T>(): Branch<T> {
  return { literals: new Map(), templates: [], value: null }
}

function childFor<T>(branch: Branch<T>, segment: string): Branch<T> {
  if (!segment.includes('{')) return literalChild(branch, segment)
  const template = parseTemplate(segment)
  const isSame = (other: Template): boolean =>
    other.literals.join('\0') === template.literals.join('\0') && other.names.join() === template.names.join()
  const known = branch.templates.find((one) => isSame(one.template))
  if (known !== undefined) return known.branch
  const child = newBranch<T>()
  branch.templates.push({ template, branch: child })
  // A template with more literal text is more specific and is tried first.
  branch.templates.sort((a, b) => weight(b.template) - weight(a.template))
  return child
}

function literalChild<T>(branch: Branch<T>, written: string): Branch<T> {
  const segment = canonicalPath(`/${written}`)?.slice(1) ?? encodeURI(written)
  const known = branch.literals.get(segment)
  if (known !== undefined) return known
  const child = newBranch<T>()
  branch.literals.set(segment, child)
  return child
}

function weight({ literals }: Template): number {
  return literals.join('').length
}

function parseTemplate(segment: string): Template {
  const parts = segment.split(/\{([^{}]+)\}/)
  const literals = parts.filter((_, i) => i % 2 === 0)
  const names = parts.filter((_, i) => i % 2 === 1)
  const isBroken = literals.some((text) => /[{}]/.test(text)) || literals.slice(1, -1).includes('')
  if (isBroken) throw new Error(`'${segment}' is not a path template: use a form such as /orders/{id}`)
  return { literals: literals.map(canonicalPart), names }
}

/** Returns the canonical form of a part of a segment. The letter before it keeps dots from being resolved. */
function canonicalPart(written: string): string {
  return canonicalPath(`/x${written}`)?.slice(2) ?? encodeURI(written)
}

function search<T>(
  branch: Branch<T>,
  segments: readonly string[],
  texts: readonly string[],
): PathMatch<T> | null {
  const [segment, ...rest] = segments
  if (segment === undefined)
    return branch.value === null ? null : { value: branch.value, texts: pairs(texts) }
  const literal = branch.literals.get(decodeReserved(segment))
  if (literal !== undefined) {
    const found = search(literal, rest, texts)
    if (found !== null) return found
  }
  for (const { template, branch: next } of branch.templates) {
    const values = valuesIn(template, segment) ?? valuesIn(template, decodeReserved(segment))
    if (values === null) continue
    const found = search(next, rest, [...texts, ...values])
    if (found !== null) return found
  }
  return null
}

/** Converts a list of alternating names and texts to a map. */
function pairs(texts: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (let i = 0; i < texts.length; i += 2) map.set(texts[i]!, texts[i + 1]!)
  return map
}

/**
 * Returns the parameters of a segment as alternating names and texts, or null if it does not match. Matching
 * is non-greedy.
 */
function valuesIn({ literals, names }: Template, segment: string): string[] | null {
  if (!segment.startsWith(literals[0]!)) return null
  const values: string[] = []
  let at = literals[0]!.length
  for (let i = 0; i < names.length; i++) {
    const next = literals[i + 1]!
    const isLast = i === names.length - 1
    const end = isLast ? segment.length - next.length : segment.indexOf(next, at + 1)
    if (end <= at || (isLast && !segment.endsWith(next))) return null
    values.push(names[i]!, segment.slice(at, end))
    at = end + next.length
  }
  return values
}
