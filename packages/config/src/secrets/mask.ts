import type { TSchema } from '@sinclair/typebox'
import { MASK } from '@sluice/core'
import { isMapping } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { expanded, itemSchemas, keySchemas, mayContain } from '../schema/branches.js'
import { parseTemplate } from '../template/text-template.js'
import { isSecretName, maskedDefault, maskedLiteral, maskLiterals, maskRandom } from './literal-secrets.js'

/**
 * Returns a copy of a value with secrets masked; references are shown. If several branches of a union apply,
 * a value is secret if any of them says so. Under user-defined names, such as those of headers, values with a
 * secret-sounding name are masked too, unless the schema says `secret: false`. So are literal secrets within
 * strings.
 */
export function maskSecrets(schema: TSchema, value: unknown): unknown {
  return replaceMarked(schema, value, { keyword: 'secret', replace: maskOf, ...WRITTEN })
}

/** Defines which marked values are replaced, and with what. */
interface Replacement {
  /** Keyword that marks a value if it is `true`. */
  readonly keyword: string
  readonly replace: (value: unknown) => unknown
  /** Tests user-defined names that mark their value. Default: none do. */
  readonly isMarkedName?: (name: string) => boolean
  readonly replaceNamed?: (value: unknown) => unknown
  /** Replaces strings that are not marked. Default: they stay. */
  readonly replaceText?: (text: string) => string
  /** Replaces strings under user-defined names that are not marked. Default: they stay. */
  readonly replaceChosen?: (text: string) => string
}

/** Masks secrets that are recognised only by their name or form. */
const WRITTEN = {
  isMarkedName: isSecretName,
  replaceNamed: maskedWhole,
  replaceText: maskLiterals,
  replaceChosen: maskText,
}

/**
 * Replaces all values that a schema marks; in a union, any branch may mark a value. Parts without marks are
 * not copied if only marks are replaced.
 */
export function replaceMarked(schema: TSchema, value: unknown, replacement: Replacement): unknown {
  const { keyword, replace, isMarkedName, replaceNamed, replaceText, replaceChosen } = replacement
  const isMarkOnly = isMarkedName === undefined && replaceText === undefined
  const replaced = (schemas: readonly TSchema[], part: unknown, isChosen: boolean): unknown => {
    if (isMarkOnly && !schemas.some((one) => mayContain(one, `"${keyword}":true`))) return part
    const branches = schemas.flatMap((one) => expanded(one, schema))
    if (branches.some((one) => one[keyword] === true)) return replace(part)
    if (Array.isArray(part)) {
      return part.map((item, i) => {
        const below = branches.flatMap((one) => itemSchemas(one, i))
        return replaced(below, item, isChosen)
      })
    }
    if (typeof part === 'string') return (isChosen ? replaceChosen : replaceText)?.(part) ?? part
    if (!isMapping(part)) return part
    const members = Object.entries(part).map(([key, item]) => {
      const below = branches.flatMap((one) => keySchemas(one, key))
      const isChosenKey = isMarkedName !== undefined && isChosenName(key, branches, below)
      const isNamed = isChosenKey && isMarkedName(key)
      return [key, isNamed ? replaceNamed?.(item) : replaced(below, item, isChosenKey)] as const
    })
    return Object.fromEntries(members)
  }
  return replaced([schema], value, false)
}

/** True if a key is user-defined, and not declared as `secret: false`. */
function isChosenName(key: string, branches: readonly TSchema[], below: readonly TSchema[]): boolean {
  if (branches.some((schema) => Object.hasOwn(schema['properties'] ?? {}, key))) return false
  return !below.some((schema) => schema['secret'] === false)
}

/** Masks all strings and numbers in a value under the name of a secret. */
function maskedWhole(value: unknown): unknown {
  if (typeof value === 'string') return maskedLiteral(value)
  if (Array.isArray(value)) return value.map(maskedWhole)
  if (isMapping(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskedWhole(item)]))
  return typeof value === 'number' ? MASK : value
}

/** Masks literal secrets in free text, such as code or values under user-defined names. */
export function maskText(text: string): string {
  return maskRandom(maskLiterals(text))
}

/** Returns a copy of a value with the literal secrets in its strings masked. */
export function maskTexts<T>(value: T): T {
  if (typeof value === 'string') return maskText(value) as T
  return replaceMarked({} as TSchema, value, { keyword: 'secret', replace: maskOf, ...WRITTEN }) as T
}

function maskOf(value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (typeof value !== 'string') return MASK
  const template = parseTemplate(value)
  const isShown = !isIssue(template) && template.every((part) => typeof part !== 'string')
  return isShown ? template.map((part) => maskedDefault(part.text)).join('') : MASK
}
