import type { TSchema } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { type DocumentPath, isMapping, pathOfPointer } from '../document-path.js'
import { documentSchema } from '../schema/document.js'
import { satisfiesLarge, schemaErrors } from './validator.js'

/** One mistake against a schema. */
export interface Violation {
  /** The value that is wrong, or the mapping that lacks or has too many keys. */
  readonly path: DocumentPath
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  /** The part of the schema that the value does not satisfy. */
  readonly schema: TSchema
  readonly value: unknown
  /** The name of a key, when it is the key that is wrong and not its value. */
  readonly key: string | null
  /** Whether the schema says that the value, or what holds it, is secret. */
  readonly isSecret: boolean
}

/** More mistakes are not looked at: nobody reads them, and wording them takes a second for each ten thousand. */
export const MAX_MISTAKES = 1000
/** Of one value; a mistake in a union brings several. More are cut off before anything is done with them. */
const MAX_ERRORS = 10_000

/** The mistakes of a whole document against its own schema; most have none. */
export function schemaViolationsOf(root: unknown): readonly Violation[] {
  return satisfiesLarge(documentSchema, root) ? [] : violationsOf(documentSchema, root)
}

/**
 * The mistakes of a value, one for each cause.
 * @param base where the value stands in the document.
 */
export function violationsOf(schema: TSchema, value: unknown, base: DocumentPath = []): readonly Violation[] {
  const errors = collapse(schemaErrors(schema, value).slice(0, MAX_ERRORS))
  return errors.map((error) => ({
    ...violationOf(error),
    path: [...base, ...pathOfPointer(error.instancePath, value)],
    isSecret: isSecretAt(schema, error.schemaPath) || isSecret(error.parentSchema),
  }))
}

function violationOf(error: ErrorObject): Omit<Violation, 'path' | 'isSecret'> {
  return {
    keyword: error.keyword,
    params: error.params,
    schema: (error.parentSchema ?? {}) as TSchema,
    value: error.data,
    key: error.propertyName ?? keyOf(error),
  }
}

function keyOf({ keyword, params }: ErrorObject): string | null {
  return keyword === 'additionalProperties' ? String(params['additionalProperty']) : null
}

/** Whether the schema, or a branch of it, is marked. */
function isSecret(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return (
    ('secret' in schema && schema.secret === true) ||
    ('anyOf' in schema && Object.values(schema.anyOf ?? []).some(isSecret))
  )
}

/** Whether a schema on the way to the keyword that failed is marked. */
function isSecretAt(root: TSchema, schemaPath: string): boolean {
  let schema: unknown = root
  for (const token of schemaPath.split('/').slice(1)) {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isMapping(schema) && !Array.isArray(schema)) return false
    schema = (schema as Record<string, unknown>)[key]
    if (isMapping(schema) && schema['secret'] === true) return true
  }
  return false
}

const UNIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf'])

/**
 * Replaces the errors of all branches of a union by those of the branch that was most likely meant. Ajv lists the
 * errors of the branches right before the one of the union.
 */
function collapse(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = []
  for (let i = errors.length - 1; i >= 0; i--) {
    const error = errors[i]!
    if (error.keyword === 'propertyNames') {
      const start = startOfBranches(errors, i)
      kept.push(
        ...errors.slice(start, i).map((inner) => ({ ...inner, propertyName: error.params['propertyName'] })),
      )
      i = start
      continue
    }
    if (!UNIONS.has(error.keyword)) {
      kept.push(error)
      continue
    }
    const start = startOfBranches(errors, i)
    kept.push(...mostLikely(error, errors.slice(start, i)).reverse())
    i = start
  }
  return kept.reverse()
}

function startOfBranches(errors: readonly ErrorObject[], unionAt: number): number {
  const union = errors[unionAt]!
  let start = unionAt
  while (start > 0 && isOfBranch(errors[start - 1]!, union)) start--
  return start
}

function isOfBranch(error: ErrorObject, union: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/`) && isAtOrBelow(error.instancePath, union.instancePath)
  )
}

function isAtOrBelow(pointer: string, above: string): boolean {
  return pointer === above || pointer.startsWith(`${above}/`)
}

/** The errors of one branch, or the union's own when the value is of no branch's type. */
function mostLikely(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  const branches = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const index = error.schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0]!
    branches.set(index, [...(branches.get(index) ?? []), error])
  }
  const plausible = [...branches.values()].filter(
    (branch) => !branch.some((error) => isOfAnotherKind(error, union)),
  )
  const candidates = plausible.map(collapse).sort((a, b) => distance(a) - distance(b))
  return candidates[0] ?? [union]
}

/** Whether an error says that the value is not of the branch's type at all. */
function isOfAnotherKind(error: ErrorObject, union: ErrorObject): boolean {
  return error.instancePath === union.instancePath && ['type', 'const', 'enum'].includes(error.keyword)
}

/** How far a value is from a branch; a wrong discriminator counts most. */
function distance(errors: readonly ErrorObject[]): number {
  return errors.reduce((sum, error) => sum + (error.keyword === 'const' ? 10 : 1), 0)
}
