import { Slices } from '@sluice/core'
import type { AnySchemaObject, ValidateFunction } from 'ajv'
import { compileJsonPath, type JsonPath } from '../../engines/json/path.js'
import { type JsonView, jsonOfBytes } from '../../engines/json/view.js'
import {
  checkAgainstDraft,
  type DialectOptions,
  type Draft,
  draftOf,
  prepareDialect,
} from '../../engines/json-schema/dialect.js'
import type { JsonLimits } from '../../engines/json-schema/json-bounds.js'
import { findViolations, type Violation } from '../../engines/json-schema/violations.js'

/** What decides about documents; it can be cloned for a thread. */
export interface CheckSettings extends JsonLimits {
  readonly schemas: readonly unknown[]
  readonly references: readonly unknown[]
  readonly match: 'any' | 'all' | 'first'
  readonly select: string
  readonly draft: Draft | null
  readonly dialect: DialectOptions
}

/** What a document is. */
export interface Verdict {
  /** Empty: it is valid. */
  readonly violations: readonly Violation[]
  /** The document after the changes that the schemas ask for; null: it is as it was. */
  readonly changed: string | null
}

/** Compiled schemas and how they decide together. */
export class SchemaCheck {
  readonly #validators: readonly ValidateFunction[]
  readonly #path: JsonPath
  readonly #settings: CheckSettings
  readonly #changes: boolean

  /** @throws Error for a schema that cannot be compiled, and for a path that is none. */
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

  /** @throws UnreadableBody when the bytes are not JSON, or not as they have to be. */
  checkBytes(body: Uint8Array): Verdict {
    return this.check(jsonOfBytes(body, this.#settings.reading))
  }

  /** @throws UnreadableBody when the path looks at too much. */
  check(view: JsonView): Verdict {
    const isAll = this.#settings.match === 'all'
    const missed: Violation[] = []
    let changed: string | null = null
    // A schema that changes documents gets its own, because it may change one that it then does not accept.
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
    if (found.length === 0) return [`${select} finds nothing`]
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

/** A schema of the configuration, and what it is called in messages. */
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
    const draft = await named(one.what, () => settings.draft ?? draftOf(checkedSchema(one.schema)))
    byDraft.set(draft, [...(byDraft.get(draft) ?? []), one])
  }
  const validators = new Map<NamedSchema, ValidateFunction>()
  for (const [draft, some] of byDraft) await compileDraft(draft, some, settings.dialect, validators)
  return all.flatMap((one) => validators.get(one) ?? [])
}

/** Compiles the schemas of one draft, which refer to each other, in short steps: a worker goes on serving. */
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
  } = await named(whole, () => prepareDialect(documents, draft, dialect))
  ajv.opts.validateSchema = false
  const slices = new Slices()
  for (const [i, one] of schemas.entries()) {
    const schema = prepared[i]!
    await named(one.what, async () => {
      await checkAgainstDraft(schema, draft, dialect)
      if (one.isReference) ajv.addSchema(schema as AnySchemaObject)
      else validators.set(one, ajv.compile(schema))
      do await slices.pause()
      while (links.compileNext())
    })
  }
}

/** @throws Error that names the schema and says what to do. */
async function named<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Error(`${what} cannot be compiled: ${reasonOf(cause)}`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof RangeError)
    return 'its schemas or references nest too deeply; write it with fewer levels'
  if (!(cause instanceof Error)) return String(cause)
  const { missingRef } = cause as { missingRef?: unknown }
  if (typeof missingRef !== 'string') return cause.message
  return `it refers to '${missingRef}', which is not here; nothing is fetched, so add that schema under 'references'`
}

function checkedSchema(schema: unknown): unknown {
  if (typeof schema === 'boolean') return schema
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema
  throw new Error('it is neither an object nor true or false; a JSON schema is written as one')
}
