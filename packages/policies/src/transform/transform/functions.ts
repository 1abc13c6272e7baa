import type { Expression } from 'jsonata'
import { canonicalText } from '../../engines/json/canonical-text.js'

/** Maximum length of a `$pad` result, in characters. */
const MAX_PADDED = 10_000
/**
 * Maximum length of text parsed with a picture, in characters. The library turns pictures into backtracking
 * patterns.
 */
const MAX_PICTURED = 128

type Native = (...args: readonly unknown[]) => unknown
type Compare = (a: unknown, b: unknown) => Promise<unknown>

/** Signatures of the replaced functions. */
const SIGNATURES = {
  eval: '<sx?:x>',
  pad: '<s-ns?:s>',
  distinct: '<x:x>',
  sort: '<af?:a>',
  toMillis: '<s-s?:n>',
  parseInteger: '<s-s:n>',
} as const

/**
 * Replaces library functions that use unbounded time or memory. The library's `$sort` takes 1.5 s and 200 MB
 * for 10,000 numbers, its `$distinct` is quadratic, and neither checks the time limit.
 */
export async function boundFunctions(
  expression: Expression,
  load: (name: string) => Promise<Native>,
): Promise<void> {
  const register = (name: keyof typeof SIGNATURES, implementation: Native): void =>
    expression.registerFunction(name, implementation, SIGNATURES[name])
  register('eval', () => {
    throw fault('D3120', '$eval is not available')
  })
  const pad = await load('pad')
  register('pad', (text, width, char) => {
    if (Math.abs(Number(width)) > MAX_PADDED) throw new RangeError('the result of $pad is too long')
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

/** Creates an error in the format of the library. */
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
  if (!isPlain) throw fault('D3070', 'without a function, $sort needs only numbers or only strings')
  return kind === 'number'
    ? [...items].sort((a, b) => (a as number) - (b as number))
    : [...items].sort((a, b) => ((a as string) < (b as string) ? -1 : Number(a !== b)))
}

/**
 * Sorts by merging ever longer runs, without recursion. `compare` returns true if the first item belongs
 * after the second.
 */
async function sortBy(items: readonly unknown[], compare: Compare): Promise<unknown[]> {
  let from = [...items]
  for (let width = 1; width < from.length; width *= 2) {
    const to: unknown[] = []
    for (let start = 0; start < from.length; start += 2 * width)
      await merge(from, to, { left: start, middle: start + width, compare })
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
