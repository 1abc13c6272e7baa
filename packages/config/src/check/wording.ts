import type { TSchema } from '@sinclair/typebox'
import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import { type Issue, isIssue } from '../diagnostic/issue.js'
import { suggestion } from '../diagnostic/spelling.js'
import { parseAddress } from '../grammar/address.js'
import { exampleOf, expectationOf, QUANTITIES, wordsOf } from './expectation.js'
import { intendedValues } from './intended-values.js'
import { schemaErrors } from './validator.js'
import type { Violation } from './violation.js'

/**
 * Returns the message and remedy for a violation.
 * @param references the references in the value as written, or null; their values are never shown
 */
export function wordingOf(violation: Violation, references: string | null): Issue {
  if (violation.key === null && references !== null) {
    return {
      message: `the value of ${references} is not ${expectationOf(violation.schema)}`,
      remedy:
        typeof violation.value === 'string' && violation.value.trim() !== violation.value
          ? 'remove the spaces around the value'
          : 'correct the value',
    }
  }
  const describe = DESCRIPTIONS[violation.keyword] ?? unexpected
  return describe(violation, subjectOf(violation))
}

type Description = (violation: Violation, subject: string) => Issue

const DESCRIPTIONS: Readonly<Record<string, Description>> = {
  additionalProperties: unknownKey,
  required: missingKey,
  choice: wrongChoice,
  grammar: wrongGrammar,
  minLength: wrongCount('minLength', 'maxLength', 'characters'),
  maxLength: wrongCount('minLength', 'maxLength', 'characters'),
  minItems: wrongCount('minItems', 'maxItems', 'items'),
  maxItems: wrongCount('minItems', 'maxItems', 'items'),
  minProperties: wrongCount('minProperties', 'maxProperties', 'keys'),
  maxProperties: wrongCount('minProperties', 'maxProperties', 'keys'),
  uniqueItems: (_, subject) => ({
    message: `${subject} contains the same item twice`,
    remedy: 'remove one of them',
  }),
}

/** Describes a string that does not follow its grammar. The remedy has the value itself if that can be corrected. */
function wrongGrammar(violation: Violation): Issue {
  const issue = violation.params['issue'] as Issue
  if (violation.key !== null || !issue.remedy.startsWith('write for example')) return issue
  const remedy = intendedRemedy(violation)
  return remedy === null ? issue : { ...issue, remedy }
}

function unknownKey({ key, schema }: Violation): Issue {
  const known = Object.keys(schema['properties'] ?? {})
  const [, name] = /^([\w-]+):(.+)$/.exec(key ?? '') ?? []
  if (name !== undefined && known.includes(name))
    return { message: `unknown key '${name}:…'`, remedy: `write a space after the colon: ${name}: …` }
  const hint: unknown = schema['misplaced']?.[key ?? '']
  if (typeof hint === 'string') return { message: `unknown key '${key}'`, remedy: hint }
  // The schema of the parameters of a policy depends on the policy, so `with` may take any key.
  const around = known.filter(
    (name) => name === 'with' || Object.hasOwn(schema['properties'][name].properties ?? {}, key ?? ''),
  )
  const nested = around.length === 0 ? null : `write it under ${listed(around)}`
  const fallback = nested ?? (known.length === 0 ? 'remove it' : `valid keys: ${known.join(', ')}`)
  return { message: `unknown key '${key}'`, remedy: suggestion(key ?? '', known, fallback) }
}

function missingKey({ path, params, schema }: Violation): Issue {
  const key = String(params['missingProperty'])
  const property = schema['properties']?.[key] ?? {}
  const words = wordsOf(property)
  return {
    message: `${path.length === 0 ? 'the document' : formatPath(path)} has no '${key}'`,
    remedy: words?.length === 1 ? `add ${key}: ${words[0]}` : `add ${key}: ${expectationOf(property)}`,
  }
}

function wrongChoice({ path, params }: Violation): Issue {
  const keys = params['keys'] as readonly string[]
  const present = params['present'] as readonly string[]
  const where = formatPath(path)
  if (present.length > 0)
    return {
      message: `${where} has ${quoted(present, 'and')}; only one is allowed`,
      remedy: 'keep one of them',
    }
  return { message: `${where} needs ${quoted(keys, 'or')}`, remedy: 'add one of them' }
}

/** Describes a value with too few or too many characters, items or keys. */
function wrongCount(least: string, most: string, unit: string): Description {
  return ({ schema, value, keyword }, subject) => {
    const bounds = [
      ...(schema[least] === undefined ? [] : [`at least ${schema[least]}`]),
      ...(schema[most] === undefined ? [] : [`at most ${schema[most]}`]),
    ]
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
    const isOne = bounds.length === 1 && bounds[0]!.endsWith(' 1')
    const message = `${subject} must have ${bounds.join(' and ')} ${isOne ? unit.slice(0, -1) : unit}`
    const change = keyword.startsWith('min') ? `add ${unit}` : `remove ${unit}`
    return { message, remedy: isEmpty ? 'do not leave it empty' : change }
  }
}

function unexpected(violation: Violation, subject: string): Issue {
  const { value, schema, key } = violation
  if (value === null && key === null)
    return { message: `${subject} has no value`, remedy: `write ${expectationOf(schema)}, or remove the key` }
  const shown = shownValue(violation)
  return {
    message: `${subject} must be ${expectationOf(schema)}${shown === null ? '' : `, not ${shown}`}`,
    remedy: key === null ? remedyFor(violation) : 'choose another name',
  }
}

/**
 * Returns the value as it may be shown, or null. A scalar in place of a list or object is not shown, because
 * it may be a misplaced secret.
 */
function shownValue({ value, schema, isSecret }: Violation): string | null {
  if (Array.isArray(value)) return 'a list'
  if (isMapping(value)) return 'an object'
  if (isSecret || schema['type'] === 'array' || schema['type'] === 'object') return null
  if (typeof value !== 'string') return String(value)
  return value.length > 60 ? `a string of ${value.length} characters` : `'${value}'`
}

function remedyFor(violation: Violation): string {
  const { keyword, value, schema } = violation
  const isOtherForm =
    keyword === 'type' || keyword === 'pattern' || (keyword === 'enum' && typeof value !== 'string')
  if (isOtherForm && typeof schema['remedy'] === 'string') return schema['remedy']
  const words = wordsOf(schema)
  if (words?.length === 1) return `write ${words[0]}`
  const port = portRemedy(violation)
  if (port !== null) return port
  const quick = quotesRemedy(violation) ?? unitRemedy(violation) ?? intendedRemedy(violation)
  if (quick !== null) return quick
  if (words !== null) {
    const list = `write ${listed(words)}`
    return typeof value === 'string' ? suggestion(value, words, list) : list
  }
  if (schema['type'] === 'array') return listRemedy(violation)
  if (schema['type'] === 'object') return `write an object, for example { ${entryOf(schema)} }`
  if (RANGES.has(keyword)) return 'use a value in this range'
  if (schema['type'] === 'boolean') return 'write true or false'
  const example = exampleOf(schema)
  return example === null ? 'correct the value' : `write for example ${example}`
}

/**
 * Suggests brackets where a list with one item was meant. The value is not shown, because it may be a
 * misplaced secret.
 */
function listRemedy({ value, schema, isSecret }: Violation): string {
  if (isMapping(value) && Object.keys(value).length > 0) {
    if (Object.keys(value).some((key) => /^-\w/.test(key))) return "write a space after '-'"
    return "start each item with '- '"
  }
  const isScalar = ['string', 'number'].includes(typeof value)
  if (!isScalar || isSecret || !satisfies(schema, [value])) return 'write a list, for example [a, b]'
  return 'put it in [ ]'
}

const RANGES: ReadonlySet<string> = new Set(['minimum', 'maximum', 'bounds'])

/** Returns an example entry of an object, with a required key if there is one. */
function entryOf(schema: TSchema): string {
  const properties: Readonly<Record<string, TSchema>> = schema['properties'] ?? {}
  const lists: readonly (readonly string[] | undefined)[] = [schema['required'], schema['choice']?.keys]
  const keys = lists.find((list) => list !== undefined && list.length > 0) ?? Object.keys(properties)
  for (const key of keys) {
    const property = properties[key]
    if (property === undefined) continue
    const [word = / such as (\S+)$/.exec(expectationOf(property))?.[1]] = wordsOf(property) ?? []
    const example = exampleOf(property) ?? word
    if (example !== undefined) return `${key}: ${example}`
  }
  return keys.length === 0 ? 'key: value' : `${keys[0]}: ...`
}

/** Suggests adding or removing quotes, which distinguish strings from numbers in YAML. */
function quotesRemedy({ value, schema, isSecret }: Violation): string | null {
  if (typeof value === 'string') {
    const isOther = [Number(value), value === 'true'].some(
      (other) => String(other) === value && satisfies(schema, other),
    )
    return isOther ? 'remove the quotes' : null
  }
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  if (!isScalar || isSecret) return null
  return satisfies(schema, String(value)) ? `put it in quotes: "${value}"` : null
}

/** Suggests a unit for a number without one: a small one for large numbers, such as milliseconds. */
function unitRemedy({ value, schema, isSecret }: Violation): string | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (
    typeof number !== 'number' ||
    Number.isNaN(number) ||
    isSecret ||
    QUANTITIES[String(schema['pattern'])] === undefined
  )
    return null
  // A number up to 1 may be meant as a fraction.
  const units = [
    ...(number < 1000 ? ['s', 'kb'] : []),
    'ms',
    'b',
    's',
    'kb',
    '/s',
    ...(number > 1 ? ['%'] : []),
  ]
  const unit = units.find((text) => satisfies(schema, `${value}${text}`))
  return unit === undefined ? null : `write ${value}${unit}`
}

/** Suggests the value in the notation of the document, such as `true` for `yes`. */
function intendedRemedy({ value, schema, isSecret }: Violation): string | null {
  if (isSecret || !isScalar(value)) return null
  const valid = intendedValues(value).filter((one) => one !== value && satisfies(schema, one))
  const isFraction = typeof valid[0] === 'string' && valid[0].endsWith('%')
  return valid.length === 0 ? null : `write ${listed(valid.slice(0, isFraction ? 2 : 1).map(String))}`
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Suggests an address where only a port was written, which YAML reads as a number. */
function portRemedy({ value, schema }: Violation): string | null {
  if (schema['grammar'] !== 'address' || typeof value !== 'number' || !Number.isInteger(value)) return null
  const address = parseAddress(String(value))
  return isIssue(address) ? address.remedy : null
}

function satisfies(schema: TSchema, value: unknown): boolean {
  return schemaErrors(schema, value).length === 0
}

/** Returns the key in quotes; for a list item, the key of the list and the position. */
function subjectOf({ path, key }: Violation): string {
  if (key !== null) return `the key '${key}'`
  if (path.length === 0) return 'the document'
  const [name, ...positions] = path.slice(lastKey(path))
  return `'${name}${formatPath(positions)}'`
}

function lastKey(path: DocumentPath): number {
  const index = path.findLastIndex((part) => typeof part === 'string')
  return index === -1 ? 0 : index
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function quoted(words: readonly string[], conjunction: 'and' | 'or'): string {
  const all = words.map((word) => `'${word}'`)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} ${conjunction} ${all.at(-1)}`
}
