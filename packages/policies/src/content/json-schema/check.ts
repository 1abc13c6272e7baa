import { Slices } from '@sluice/core'
import type { AnySchemaObject, ValidateFunction } from 'ajv'
import { compileJsonPath, type JsonPath } from '../../engines/json/path.js'
import {
  checkAgainstDraft,
  type DialectOptions,
  draftOf,
  prepareDialect,
} from '../../engines/json-schema/dialect.js'
import type { Draft } from '../../engines/json-schema/draft.js'
import type { JsonLimits } from '../../engines/json-schema/json-bounds.js'
import { findViolations, type Violation } from '../../engines/json-schema/violations.js'
import { type JsonView, jsonOfBytes } from '../../shared/json/view.js'

/** Settings of a check. They can be cloned for a worker thread. */
export interface CheckSettings extends JsonLimits {
  readonly schemas: readonly unknown[]
  readonly references: readonly unknown[]
  readonly match: 'any' | 'all' | 'first'
  readonly select: string
  readonly draft: Draft | null
  readonly dialect: DialectOptions
}

/** Result of a check. */
export interface Verdict {
  /** Violations, or an empty list if the document is valid. */
  readonly violations: readonly Violation[]
  /** Changed document, or null if the schemas changed nothing. */
  readonly changed: string | null
}

/** Compiled schemas and the rule that combines their results. */
export class SchemaCheck {
  readonly #validators: readonly ValidateFunction[]
  readonly #path: JsonPath
  readonly #settings: CheckSettings
  readonly #changes: boolean

  /** @throws Error if a schema or the path is invalid. */
  static async compile(settings: CheckSettings): Promise<SchemaCheck> {
    return new SchemaCheck(settings, await compileSchemas(settings))
  }

  private constructor(settings: CheckSettings, validators: readonly ValidateFunction[]) {
    const { coerce, removeAdditional, applyDefaults } = settings.dialect
    this.#validators = validators
    this.#path = compileJsonPath(settings.select)
    this.#settings = settings
    this.#changes = coerce || removeAdditional || applyDefaults
  }

  /** Checks a body. @throws UnreadableBody if the bytes are not acceptable JSON. */
  checkBytes(body: Uint8Array): Verdict {
    return this.check(jsonOfBytes(body, this.#settings.reading))
  }

  /** Checks parsed JSON. @throws UnreadableBody if the path visits too many values. */
  check(view: JsonView): Verdict {
    const isAll = this.#settings.match === 'all'
    const missed: Violation[] = []
    let changed: string | null = null
    // A schema that changes documents gets a copy, because it may change a document that it then rejects.
    let document = this.#changes ? view.copy() : view.value
    for (const validate of this.#validators) {
      const violations = this.#violations(validate, document)
      if (violations.length === 0) {
        if (this.#changes) changed = JSON.stringify(document)
        if (!isAll) return { violations, changed: this.#difference(view, changed) }
      } else {
        if (isAll) return { violations, changed: null }
        if (missed.length === 0 || this.#settings.match === 'any') missed.push(...violations)
        if (this.#changes) document = view.copy()
      }
    }
    if (isAll) return { violations: [], changed: this.#difference(view, changed) }
    return { violations: missed.slice(0, this.#settings.maxErrors), changed: null }
  }

  #difference(view: JsonView, changed: string | null): string | null {
    return changed === null || changed === JSON.stringify(view.value) ? null : changed
  }

  #violations(validate: ValidateFunction, document: unknown): Violation[] {
    const { maxErrors, select } = this.#settings
    const found = this.#path.all(document)
    if (found.length === 0) return [`${select} matches nothing`]
    const violations: Violation[] = []
    for (const value of found) {
      violations.push(
        ...findViolations(validate, value, { location: '', most: maxErrors - violations.length }),
      )
      if (violations.length >= maxErrors) break
    }
    return violations
  }
}

/** A configured schema and its name in messages. */
interface NamedSchema {
  readonly what: string
  readonly schema: unknown
  readonly isReference: boolean
}

async function compileSchemas(settings: CheckSettings): Promise<ValidateFunction[]> {
  const { schemas, references } = settings
  const all: NamedSchema[] = [
    ...references.map((schema, i) => ({ what: `reference ${i + 1}`, schema, isReference: true })),
    ...schemas.map((schema, i) => ({
      what: schemas.length === 1 ? 'the schema' : `schema ${i + 1}`,
      schema,
      isReference: false,
    })),
  ]
  const byDraft = new Map<Draft, NamedSchema[]>()
  for (const one of all) {
    const draft = await withSchemaName(one.what, () => settings.draft ?? draftOf(checkedSchema(one.schema)))
    byDraft.set(draft, [...(byDraft.get(draft) ?? []), one])
  }
  const validators = new Map<NamedSchema, ValidateFunction>()
  for (const [draft, some] of byDraft) await compileDraft(draft, some, settings.dialect, validators)
  return all.flatMap((one) => validators.get(one) ?? [])
}

/** Compiles the schemas of one draft, which may refer to each other. Yields in between so the worker stays responsive. */
async function compileDraft(
  draft: Draft,
  schemas: readonly NamedSchema[],
  dialect: DialectOptions,
  validators: Map<NamedSchema, ValidateFunction>,
): Promise<void> {
  const whole = schemas.length === 1 ? schemas[0]!.what : `one of the schemas of draft ${draft}`
  const documents = schemas.map(({ schema }) => ({ schema, address: null }))
  const {
    ajv,
    schemas: prepared,
    links,
  } = await withSchemaName(whole, () => prepareDialect(documents, draft, dialect))
  ajv.opts.validateSchema = false
  const slices = new Slices()
  for (const [i, one] of schemas.entries()) {
    const schema = prepared[i]!
    await withSchemaName(one.what, async () => {
      await checkAgainstDraft(schema, draft, dialect)
      if (one.isReference) ajv.addSchema(schema as AnySchemaObject)
      else validators.set(one, ajv.compile(schema))
      do await slices.pause()
      while (links.compileNext())
    })
  }
}

/** Adds the schema's name to errors. @throws Error */
async function withSchemaName<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Error(`${what} cannot be compiled: ${reasonOf(cause)}`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof RangeError) return 'it nests schemas or references too deeply; use fewer levels'
  if (!(cause instanceof Error)) return String(cause)
  const { missingRef } = cause as { missingRef?: unknown }
  if (typeof missingRef !== 'string') return cause.message
  if (missingRef.startsWith('#')) return `cannot resolve the reference ${missingRef}`
  return `it refers to '${missingRef}', which is not configured; schemas are never fetched, so add it under 'references'`
}

function checkedSchema(schema: unknown): unknown {
  if (typeof schema === 'boolean') return schema
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema
  throw new Error('a JSON schema must be an object, true or false')
}
