import type { ValidateFunction } from 'ajv'
import { compileJsonPath, type JsonPath } from '../json/path.js'
import { type JsonView, jsonOfBytes } from '../json/view.js'
import { type Ajv, createAjv, type DialectOptions, type Draft, draftOf } from '../validation/dialect.js'
import type { JsonBounds } from '../validation/json-bounds.js'
import { type Violation, violationsOf } from '../validation/violations.js'

/** What decides about documents; it can be cloned for a thread. */
export interface CheckSettings extends JsonBounds {
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
      if (validate(value)) continue
      violations.push(...violationsOf(validate.errors, '', maxErrors - violations.length))
      if (violations.length >= maxErrors) break
    }
    return violations
  }
}

async function compileSchemas(settings: CheckSettings): Promise<ValidateFunction[]> {
  const compilers = new Map<Draft, Ajv>()
  const compilerOf = async (schema: unknown): Promise<Ajv> => {
    const draft = settings.draft ?? draftOf(schema)
    const known = compilers.get(draft)
    if (known !== undefined) return known
    const made = await createAjv(draft, settings.dialect)
    compilers.set(draft, made)
    return made
  }
  for (const [i, schema] of settings.references.entries()) {
    const ajv = await named(`reference ${i + 1}`, () => compilerOf(schema))
    await named(`reference ${i + 1}`, () => ajv.addSchema(asSchema(schema)))
  }
  const validators: ValidateFunction[] = []
  for (const [i, schema] of settings.schemas.entries()) {
    const what = settings.schemas.length === 1 ? 'the schema' : `schema ${i + 1}`
    validators.push(await named(what, async () => (await compilerOf(schema)).compile(asSchema(schema))))
  }
  return validators
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
  if (!(cause instanceof Error)) return String(cause)
  const { missingRef } = cause as { missingRef?: unknown }
  if (typeof missingRef !== 'string') return cause.message
  return `it refers to '${missingRef}', which is not here; nothing is fetched, so add that schema under 'references'`
}

function asSchema(schema: unknown): object {
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema
  throw new Error('it is not an object; a JSON schema is written as one')
}
