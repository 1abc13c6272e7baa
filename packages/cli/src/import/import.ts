import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type DocumentSource, formatDiagnostic, loadBodyLanguages, policyDiagnostics } from '@sluice/config'
import { formatDocument } from '@sluice/config/authoring'
import { checkDocument } from '../input/document.js'
import { catalog } from '../input/policy-catalog.js'
import { EXIT, Failure, reasonOf } from '../output/failure.js'
import { mistakesOf } from '../plugins/compile-trial.js'
import { CONSUMERS_FILE, type DocumentDraft } from './draft.js'

/** Options that all sources share. */
export interface SourceOptions {
  /** Folder of the document, in which its relative paths start. */
  readonly folder: string
  /** True if routes stay open whose protection cannot be mapped. */
  readonly allowUnprotected: boolean
}

/**
 * Returns the text of an imported document, which has been validated. Files and variables of the gateway machine may
 * be missing.
 * @throws Failure with the errors: values that Sluice does not accept
 */
export async function documentOf(
  draft: DocumentDraft,
  format: 'yaml' | 'json',
  folder: string,
): Promise<string> {
  const problems = await problemsOf(draft, folder)
  if (problems.length === 0) return format === 'yaml' ? formatted(draft.render(format)) : draft.render(format)
  throw new Failure(`the imported document is not valid:\n${problems.join('\n')}`, EXIT.invalid)
}

/** Formats a document as `gw fmt` does. */
export function formatted(text: string): string {
  const result = formatDocument(text)
  return result.ok ? result.text : text
}

/** Returns the errors in a document, except missing files and variables. */
export async function problemsOf(draft: DocumentDraft, folder: string): Promise<string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'gw-import-'))
  try {
    const consumers = join(scratch, CONSUMERS_FILE)
    writeFileSync(consumers, linesText(draft.consumers))
    return await problemsIn({
      name: join(folder, 'imported document'),
      text: draft.render('yaml', consumers),
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function problemsIn(source: DocumentSource): Promise<string[]> {
  await loadBodyLanguages(source.text, catalog)
  const result = await checkDocument(source)
  if (!result.ok)
    return result.diagnostics.filter(({ ofMachine }) => ofMachine === undefined).map(formatDiagnostic)
  return policyDiagnostics(source, await mistakesOf(result.bundle, catalog), catalog).map(formatDiagnostic)
}

/** Creates the consumers file of a document, readable only by its owner. Returns false if there is one already. */
export function createConsumers({ needsConsumers, consumers }: DocumentDraft, folder: string): boolean {
  const file = join(folder, CONSUMERS_FILE)
  if (!needsConsumers || existsSync(file)) return false
  writeFresh(file, linesText(consumers), { force: false, mode: 0o600 })
  return true
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Writes a file. Without `force`, it never overwrites one. */
export function writeFresh(
  file: string,
  text: string,
  { force, mode = 0o666 }: { readonly force: boolean; readonly mode?: number },
): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx', mode })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    const reasons: Readonly<Record<string, string>> = {
      EEXIST: 'it already exists; choose another name, remove it, or use --force',
      ENOENT: `the folder ${dirname(file)} does not exist`,
    }
    throw new Failure(`cannot write ${file}: ${reasons[String(code)] ?? reasonOf(error)}`)
  }
}
