import type { AnySchema, KeywordDefinition, Options } from 'ajv/dist/core.js'
import type { FormatsPlugin } from 'ajv-formats'
import { compileLinearRegex } from '../json/linear-regex.js'
import { type Ajv, DRAFTS, type Draft } from './draft.js'
import { EVALUATED_KEYWORDS } from './evaluated-keywords.js'
import { EXACT_KEYWORDS } from './exact-keywords.js'
import { addBoundedFormats } from './formats.js'
import { linkReferences } from './linked-references.js'
import { prepareSchemas } from './prepare-schemas.js'
import type { SchemaLinks } from './schema-links.js'
import type { SchemaDocument } from './schema-references.js'
import { mistakesText } from './violation-words.js'

/** Options that decide how a schema compiler modifies documents and how much it reports. */
export interface DialectOptions {
  readonly formats: boolean
  readonly coerce: boolean
  readonly removeAdditional: boolean
  readonly applyDefaults: boolean
  /** True to report every violation instead of only the first. */
  readonly allErrors: boolean
}

/** A compiler and its schemas, in the form that it reads correctly. */
export interface PreparedDialect {
  readonly ajv: Ajv
  /** Schemas in the order of the documents. */
  readonly schemas: readonly AnySchema[]
  /** Schemas that references lead to. They are compiled at their first use or by `compileNext`. */
  readonly links: SchemaLinks
}

/** Draft by the `$schema` URI that names it. */
const DRAFT_OF: Readonly<Record<string, Draft>> = {
  'http://json-schema.org/draft-04/schema': '04',
  'http://json-schema.org/draft-07/schema': '07',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
}

/** Returns the draft that a schema names, or the newest. @throws Error if the schema names an unsupported draft. */
export function draftOf(schema: unknown): Draft {
  const named =
    typeof schema === 'object' && schema !== null ? (schema as { $schema?: unknown }).$schema : undefined
  if (named === undefined) return '2020-12'
  const draft = typeof named === 'string' ? DRAFT_OF[named.replace(/#$/, '')] : undefined
  if (draft !== undefined) return draft
  throw new Error(`unsupported $schema; supported drafts are ${DRAFTS.join(', ')}: set one with 'draft'`)
}

/**
 * Prepares schemas and a compiler for documents of one draft. Nothing is ever fetched: a reference to a document that
 * was not added is an error. Patterns and `uniqueItems` run in linear time.
 * @throws Error for schemas that the compiler cannot check as their draft requires.
 */
export async function prepareDialect(
  documents: readonly SchemaDocument[],
  draft: Draft,
  options: DialectOptions,
): Promise<PreparedDialect> {
  const { schemas, hasUnevaluated } = prepareSchemas(documents, draft)
  const ajv = await openDialect(draft, options, hasUnevaluated)
  return { ajv, schemas, links: linkReferences(ajv) }
}

/** Compilers that check schemas. One of a draft takes 20 ms, which is why it serves all policies of the process. */
const CHECKERS = new Map<string, Promise<Ajv>>()

/** Checks a schema against that of its draft. @throws Error with the mistakes. */
export async function checkAgainstDraft(
  schema: AnySchema,
  draft: Draft,
  { formats, allErrors }: DialectOptions,
): Promise<void> {
  const key = `${draft} ${formats} ${allErrors}`
  const options = { formats, allErrors, coerce: false, removeAdditional: false, applyDefaults: false }
  const checker = CHECKERS.get(key) ?? openDialect(draft, options, false)
  CHECKERS.set(key, checker)
  const ajv = await checker
  if ((await ajv.validateSchema(schema)) === false) throw new Error(mistakesText(ajv.errors ?? [], schema))
}

/** Creates a compiler for schemas that are already prepared. */
export async function openDialect(
  draft: Draft,
  options: DialectOptions,
  hasUnevaluated: boolean,
): Promise<Ajv> {
  // Ajv tracks evaluated items and properties correctly only if it does not stop at the first violation.
  const ajv = await createAjv(draft, { ...options, allErrors: options.allErrors || hasUnevaluated })
  // Turned off otherwise, because the tracking is sometimes wrong for schemas that do not need it.
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
    // Most schemas contain annotations of other tools, which the strict mode refuses.
    strict: false,
    // Inherited properties such as `toString` do not count as members.
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

/** Compiles a pattern for the linear-time engine. Ajv tells patterns apart by their text. */
function linearPattern(pattern: string, flags: string) {
  const regex = compileLinearRegex(pattern)
  return { test: (text: string) => regex.test(text), toString: () => `/${pattern}/${flags}` }
}
