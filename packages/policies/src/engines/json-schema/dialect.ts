import type Core from 'ajv/dist/core.js'
import type { AnySchema, KeywordDefinition, Options } from 'ajv/dist/core.js'
import type { FormatsPlugin } from 'ajv-formats'
import { compileLinearRegex } from '../json/linear-regex.js'
import { EVALUATED_KEYWORDS } from './evaluated-keywords.js'
import { EXACT_KEYWORDS } from './exact-keywords.js'
import { addBoundedFormats } from './formats.js'
import { prepareSchemas } from './prepare-schemas.js'
import type { SchemaDocument } from './schema-references.js'

/** The drafts of JSON Schema that can be checked. */
export const DRAFTS = ['04', '07', '2019-09', '2020-12'] as const

/** One of the drafts. */
export type Draft = (typeof DRAFTS)[number]

/** A schema compiler of the library, whatever its draft. */
export type Ajv = Core.default

/** What a schema compiler may change in documents, and how much it reports. */
export interface DialectOptions {
  readonly formats: boolean
  readonly coerce: boolean
  readonly removeAdditional: boolean
  readonly applyDefaults: boolean
  /** Every violation, not the first only. */
  readonly allErrors: boolean
}

/** A compiler and the schemas that it is for, as it reads them right. */
export interface PreparedDialect {
  readonly ajv: Ajv
  /** In the order of the documents. */
  readonly schemas: readonly AnySchema[]
}

/** The address that `$schema` has in each draft. */
const DRAFT_OF: Readonly<Record<string, Draft>> = {
  'http://json-schema.org/draft-04/schema': '04',
  'http://json-schema.org/draft-07/schema': '07',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
}

/** The draft that a schema names, or the newest. @throws Error when it names another. */
export function draftOf(schema: unknown): Draft {
  const named =
    typeof schema === 'object' && schema !== null ? (schema as { $schema?: unknown }).$schema : undefined
  if (named === undefined) return '2020-12'
  const draft = typeof named === 'string' ? DRAFT_OF[named.replace(/#$/, '')] : undefined
  if (draft !== undefined) return draft
  throw new Error(`its $schema is none of the drafts ${DRAFTS.join(', ')}; name one with 'draft'`)
}

/**
 * A schema compiler for documents of one draft. Nothing is ever fetched: a reference to what was not added is an error.
 * Patterns run in linear time, and so does `uniqueItems`.
 * @throws Error for schemas that would not be checked as their draft has it.
 */
export async function prepareDialect(
  documents: readonly SchemaDocument[],
  draft: Draft,
  options: DialectOptions,
): Promise<PreparedDialect> {
  const { schemas, hasUnevaluated } = prepareSchemas(documents, draft)
  return { ajv: await openDialect(draft, options, hasUnevaluated), schemas }
}

/** A schema compiler for schemas that are prepared. */
export async function openDialect(
  draft: Draft,
  options: DialectOptions,
  hasUnevaluated: boolean,
): Promise<Ajv> {
  // What it takes for evaluated is right only if it does not stop at the first violation.
  const ajv = await createAjv(draft, { ...options, allErrors: options.allErrors || hasUnevaluated })
  // It is wrong at times in schemas that do not need it.
  ajv.opts.unevaluated = hasUnevaluated
  if (hasUnevaluated) replaceKeywords(ajv, EVALUATED_KEYWORDS)
  return ajv
}

async function createAjv(draft: Draft, options: DialectOptions): Promise<Ajv> {
  const ajv = await bareAjv(draft, {
    allErrors: options.allErrors,
    coerceTypes: options.coerce,
    removeAdditional: options.removeAdditional,
    useDefaults: options.applyDefaults,
    validateFormats: options.formats,
    // Annotations of other tools stand in most schemas.
    strict: false,
    // What every object inherits, such as `toString`, is no member.
    ownProperties: true,
    logger: false,
    code: { regExp: Object.assign(linearPattern, { code: 'new RegExp' }) },
  })
  if (options.formats) {
    const { default: plugin } = await import('ajv-formats')
    const addFormats = plugin as unknown as FormatsPlugin
    addFormats(ajv)
    addBoundedFormats(ajv)
  }
  replaceKeywords(ajv, EXACT_KEYWORDS)
  return ajv
}

function replaceKeywords(ajv: Ajv, definitions: readonly KeywordDefinition[]): void {
  for (const definition of definitions) {
    ajv.removeKeyword(String(definition.keyword))
    ajv.addKeyword(definition)
  }
}

async function bareAjv(draft: Draft, options: Options): Promise<Ajv> {
  if (draft === '2020-12') return new (await import('ajv/dist/2020.js')).Ajv2020(options)
  if (draft === '2019-09') return new (await import('ajv/dist/2019.js')).Ajv2019(options)
  if (draft === '07') return new (await import('ajv')).Ajv(options)
  const { default: Ajv04 } = await import('ajv-draft-04')
  return new (Ajv04 as unknown as new (options: Options) => Ajv)(options)
}

/** The library distinguishes patterns by their text. */
function linearPattern(pattern: string, flags: string) {
  const regex = compileLinearRegex(pattern)
  return { test: (text: string) => regex.test(text), toString: () => `/${pattern}/${flags}` }
}
