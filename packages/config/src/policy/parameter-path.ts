import { type DocumentPath, isMapping, pathOfPointer, valueAt } from '../diagnostic/document-path.js'
import { POINTER, REFERENCE } from './policy-file-position.js'

/** Maximum number of values of a policy that are searched. */
const MAX_VALUES = 10_000

/**
 * Returns the path of the parameter that an error message of a policy is about, or of the policy. A message names a
 * parameter (`'users[0].name'`), a reference or JSON pointer in a part that is written inline, a value, or a key.
 * @param config parameters with references resolved, for values that the message quotes
 */
export function parameterPath(
  root: unknown,
  policy: DocumentPath,
  { message, config }: { readonly message: string; readonly config: unknown },
): DocumentPath {
  const base = [...policy, 'with']
  // The name of the policy comes first.
  const text = message.replace(/^policy '[^']*' \([^)]*\): /, '')
  const written = valueAt(root, base)
  const entries = entriesOf(config)
  const isParameter = (path: DocumentPath) =>
    path.length > 0 && [config, written].some((one) => valueAt(one, path) !== undefined)
  const quoted = [...text.matchAll(/'([^']{1,256})'/g)].map(([, part]) => part!)
  const found =
    quoted.map(pathOfName).find(isParameter) ??
    pathOfReference(text, entries) ??
    pathInInline(text, entries) ??
    entries.find(({ value }) => isScalar(value) && quoted.includes(String(value)))?.path ??
    pathOfKey(text, config)
  if (found === undefined) return policy
  for (let length = found.length; length > 0; length--) {
    const path = found.slice(0, length)
    if (valueAt(written, path) !== undefined) return [...base, ...path]
  }
  return policy
}

interface Entry {
  readonly path: DocumentPath
  readonly value: unknown
}

/** Returns all values in a configuration with their paths. */
function entriesOf(config: unknown): readonly Entry[] {
  const entries: Entry[] = [{ path: [], value: config }]
  // The list grows during the iteration.
  for (const { path, value } of entries) {
    if (entries.length > MAX_VALUES) break
    if (Array.isArray(value))
      for (const [i, item] of value.entries()) entries.push({ path: [...path, i], value: item })
    else if (isMapping(value))
      for (const [key, item] of Object.entries(value)) entries.push({ path: [...path, key], value: item })
  }
  return entries
}

function pathOfName(text: string): DocumentPath {
  if (!/^[\w.[\]-]+$/.test(text)) return []
  const parts = text.match(/[^.[\]]+/g) ?? []
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

function pathOfReference(text: string, entries: readonly Entry[]): DocumentPath | undefined {
  const reference = REFERENCE.exec(text)?.[1]
  return entries.find(({ path, value }) => path.at(-1) === '$ref' && value === reference)?.path
}

/** Returns the path of a JSON pointer in a part that is written inline. */
function pathInInline(text: string, entries: readonly Entry[]): DocumentPath | undefined {
  const pointer = POINTER.exec(text)?.[1]
  if (pointer === undefined) return undefined
  for (const { path, value } of entries) {
    if (path.at(-1) !== 'inline') continue
    const below = pathOfPointer(pointer, value)
    if (valueAt(value, below.slice(0, 1)) !== undefined) return [...path, ...below]
  }
  return undefined
}

/** Returns the path of the first word that is a parameter. */
function pathOfKey(text: string, config: unknown): DocumentPath | undefined {
  const words = text.match(/[A-Za-z][\w-]{2,}/g) ?? []
  const word = words.find((one) => isMapping(config) && Object.hasOwn(config, one))
  return word === undefined ? undefined : [word]
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && value !== ''
}
