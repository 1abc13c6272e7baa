import type { Expression } from 'jsonata'
import { canonicalText } from '../../engines/json/canonical-text.js'

/** Longest text that `$pad` makes, in characters. */
const MAX_PADDED = 10_000
/** Longest text that is read by a picture, in characters: the library makes patterns of pictures that backtrack. */
const MAX_PICTURED = 128

type Native = (...args: readonly unknown[]) => unknown
type Compare = (a: unknown, b: unknown) => Promise<unknown>

/** Functions of the language by their names that are ours, and what they are given. */
const SIGNATURES = {
  eval: '<sx?:x>',
  pad: '<s-ns?:s>',
  distinct: '<x:x>',
  sort: '<af?:a>',
  toMillis: '<s-s?:n>',
  parseInteger: '<s-s:n>',
} as const

/**
 * Replaces functions of the language that take time or memory without bound: the library's `$sort` of 10,000 numbers
 * takes 1.5 s and 200 MB, its `$distinct` is quadratic, and neither looks at the clock.
 */
export async function boundFunctions(
  expression: Expression,
  load: (name: string) => Promise<Native>,
): Promise<void> {
  const register = (name: keyof typeof SIGNATURES, implementation: Native): void =>
    expression.registerFunction(name, implementation, SIGNATURES[name])
  register('eval', () => {
    throw fault('D3120', 'there is no $eval here')
  })
  const pad = await load('pad')
  register('pad', (text, width, char) => {
    if (Math.abs(Number(width)) > MAX_PADDED) throw new RangeError('$pad makes too long a text')
    return pad(text, width, char)
  })
  register('distinct', distinct)
  register('sort', sort as Native)
  for (const name of ['toMillis', 'parseInteger'] as const) {
    const native = await load(name)
    register(name, (text, picture) => {
      if (typeof text === 'string' && text.length > MAX_PICTURED) throw fault('D3110', 'the text is too long')
      return native(text, picture)
    })
  }
}

/** An error as the library has them. */
function fault(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code })
}

function distinct(items: unknown): unknown {
  if (!Array.isArray(items) || items.length <= 1) return items
  const seen = new Map<string, unknown>()
  for (const item of items) {
    const key = canonicalText(item)
    if (!seen.has(key)) seen.set(key, item)
  }
  return [...seen.values()]
}

async function sort(items: readonly unknown[] | undefined, compare?: Compare): Promise<unknown> {
  if (items === undefined || items.length <= 1) return items
  if (compare !== undefined) return sortBy(items, compare)
  const kind = typeof items[0]
  const isPlain = (kind === 'number' || kind === 'string') && items.every((item) => typeof item === kind)
  if (!isPlain) throw fault('D3070', 'only numbers, or only texts, can be sorted without a function')
  return kind === 'number'
    ? [...items].sort((a, b) => (a as number) - (b as number))
    : [...items].sort((a, b) => ((a as string) < (b as string) ? -1 : Number(a !== b)))
}

/** Merges ever longer runs, so that nothing recurses. `compare` says whether the first goes after the second. */
async function sortBy(items: readonly unknown[], compare: Compare): Promise<unknown[]> {
  let from = [...items]
  for (let width = 1; width < from.length; width *= 2) {
    const to: unknown[] = []
    for (let start = 0; start < from.length; start += 2 * width) {
      await merge(from, to, { left: start, middle: start + width, compare })
    }
    from = to
  }
  return from
}

async function merge(
  from: readonly unknown[],
  to: unknown[],
  { left, middle, compare }: { readonly left: number; readonly middle: number; readonly compare: Compare },
): Promise<void> {
  const firstEnd = Math.min(middle, from.length)
  const end = Math.min(middle + (middle - left), from.length)
  let [i, j] = [left, firstEnd]
  while (i < firstEnd && j < end) to.push((await compare(from[i], from[j])) ? from[j++] : from[i++])
  while (i < firstEnd) to.push(from[i++])
  while (j < end) to.push(from[j++])
}
