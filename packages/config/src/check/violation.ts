import type { TSchema } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { type DocumentPath, isMapping, pathOfPointer } from '../diagnostic/document-path.js'
import { documentSchema } from '../schema/document.js'
import { satisfiesLarge, schemaErrors } from './validator.js'

/** A violation of a schema. */
export interface Violation {
  /** Path of the invalid value, or of the object with missing or surplus keys. */
  readonly path: DocumentPath
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly schema: TSchema
  readonly value: unknown
  /** Name of the invalid key, or null if the value is invalid. */
  readonly key: string | null
  /** True if the schema marks the value, or something around it, as secret. */
  readonly isSecret: boolean
}

/** Maximum number of violations that are reported. Formatting ten thousand takes a second. */
export const MAX_MISTAKES = 1000
/** Maximum number of errors of one value; a union reports several per violation. More are ignored. */
const MAX_ERRORS = 10_000

/** Returns the violations of the document schema. Fast for valid documents. */
export function schemaViolationsOf(root: unknown): readonly Violation[] {
  return satisfiesLarge(documentSchema, root) ? [] : violationsOf(documentSchema, root)
}

/** Returns the violations of a value, one per cause. @param base path of the value in the document */
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

/** True if the schema or one of its branches is marked as secret. */
function isSecret(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return (
    ('secret' in schema && schema.secret === true) ||
    ('anyOf' in schema && Object.values(schema.anyOf ?? []).some(isSecret))
  )
}

/** True if a schema on the path to the failed keyword is marked as secret. */
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
 * Replaces the errors of all branches of a union with those of the branch that was most likely meant. Ajv
 * lists the errors of the branches right before the error of the union.
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

/**
 * Returns the errors of the closest branch, or the union's own error if the value has none of the branches'
 * types.
 */
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

/** True if the error says that the value has another type than the branch. */
function isOfAnotherKind(error: ErrorObject, union: ErrorObject): boolean {
  return error.instancePath === union.instancePath && ['type', 'const', 'enum'].includes(error.keyword)
}

/** Returns the distance of a value from a branch; a wrong discriminator counts most. */
function distance(errors: readonly ErrorObject[]): number {
  return errors.reduce((sum, error) => sum + (error.keyword === 'const' ? 10 : 1), 0)
}
