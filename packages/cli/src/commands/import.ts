import { dirname } from 'node:path'
import type { DocumentDraft } from '../import/draft.js'
import { createConsumers, documentOf, type SourceOptions, writeFresh } from '../import/import.js'
import type { OpenapiOptions } from '../import/openapi/import-openapi.js'
import type { ImportReport } from '../import/report.js'
import type { OutputOptions } from '../input/options.js'
import { EXIT, Failure, usageError } from '../output/failure.js'
import { printText, say } from '../output/output.js'
import { countText } from '../output/text.js'

/** Options that the imports of all sources share. */
interface ImportOptions extends OutputOptions {
  readonly out?: string
  readonly force?: boolean
  readonly report: 'text' | 'json'
  readonly reportFile?: string
  readonly strict?: boolean
  readonly allowUnprotected?: boolean
}

/** Writes a document that routes APIs according to their OpenAPI descriptions. */
export async function importOpenapi(
  options: ImportOptions & Pick<OpenapiOptions, 'upstream' | 'validate' | 'issuer'>,
  ...files: string[]
): Promise<number> {
  if (options.upstream !== undefined && files.length > 1)
    throw usageError('--upstream is for one description; import several without it')
  const { importOpenapi: read } = await import('../import/openapi/import-openapi.js')
  return write(await read(files, { ...options, ...sourceOptions(options) }), options)
}

/** Writes a document for configurations of nginx. */
export async function importNginx(
  options: ImportOptions & { readonly port?: readonly string[] },
  ...files: string[]
): Promise<number> {
  const { importNginx: read } = await import('../import/nginx/import-nginx.js')
  const ports = (options.port ?? []).map(Number)
  return write(await read(files, { ports, ...sourceOptions(options) }), options)
}

/** Writes a document for declarative configurations of Kong. */
export async function importKong(options: ImportOptions, ...files: string[]): Promise<number> {
  const { importKong: read } = await import('../import/kong/import-kong.js')
  return write(await read(files, sourceOptions(options)), options)
}

/** Writes a document for configurations of KrakenD. */
export async function importKrakend(options: ImportOptions, ...files: string[]): Promise<number> {
  const { importKrakend: read } = await import('../import/krakend/import-krakend.js')
  return write(await read(files, sourceOptions(options)), options)
}

function sourceOptions({ out, allowUnprotected = false }: ImportOptions): SourceOptions {
  return { folder: out === undefined ? '.' : dirname(out), allowUnprotected }
}

/** Writes the document, its consumers file and the report. Returns the exit code. */
async function write(draft: DocumentDraft, options: ImportOptions): Promise<number> {
  const { out, output, force = false, strict = false } = options
  const { folder } = sourceOptions(options)
  const text = await documentOf(draft, output === 'json' ? 'json' : 'yaml', folder)
  const { report } = draft
  writeReport(report, options)
  if (strict && report.leftOut > 0)
    throw new Failure(
      `${countText(report.leftOut, 'finding')} with --strict; no document was written`,
      EXIT.invalid,
    )
  if (out === undefined) {
    printText(text)
    if (draft.needsConsumers)
      say('the document reads consumers.jsonl, which --out creates next to the document')
  } else {
    writeFresh(out, text, { force })
    say(`${out}: ${countText(draft.routes.length, 'route')}, ${countText(draft.upstreams.size, 'upstream')}`)
    if (createConsumers(draft, folder))
      say(`consumers.jsonl: ${countText(draft.consumers.length, 'consumer')}`)
  }
  return report.leftOut > 0 ? EXIT.differences : EXIT.ok
}

function writeReport(
  report: ImportReport,
  { report: format, reportFile, force = false }: ImportOptions,
): void {
  const text =
    format === 'json'
      ? JSON.stringify({ schemaVersion: 1, ...report.value() }, null, 2)
      : report.lines().join('\n')
  if (reportFile === undefined) say(text)
  else writeFresh(reportFile, `${text}\n`, { force })
}
