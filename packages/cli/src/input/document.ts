import {
  type ConfigBundle,
  type DocumentSource,
  formatDiagnostic,
  isIssue,
  type LoadOptions,
  type LoadResult,
  loadBodyLanguages,
  loadDocument,
  loadNamedPolicies,
  type Plan,
  type PluginPlan,
  readDocumentFile,
  readPlugins,
  usablePlugins,
} from '@sluice/config'
import { showActivity } from '../output/activity.js'
import { EXIT, Failure, messageOf } from '../output/failure.js'
import { say } from '../output/output.js'
import { catalog } from './policy-catalog.js'

/** Name of a document from stdin in messages. Its relative paths start in the working directory. */
const STDIN_NAME = '<stdin>'
const MAX_BYTES = 4 * 1024 * 1024
/** Length of documents whose check can take seconds, in characters. A thread for smaller ones would delay them. */
const LARGE = 128 * 1024

/**
 * Reads a document, `-` for stdin, and loads the modules that check it.
 * @throws Failure if it cannot be read
 */
export async function readDocument(file: string): Promise<DocumentSource> {
  const source = await readSource(file)
  await loadModules(source)
  return source
}

/** Reads the text of a document, `-` for stdin. @throws Failure if it cannot be read */
export async function readSource(file: string): Promise<DocumentSource> {
  try {
    return file === '-' ? { name: STDIN_NAME, text: await stdinText() } : readDocumentFile(file)
  } catch (error) {
    throw new Failure(messageOf(error), EXIT.invalid)
  }
}

async function stdinText(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error('cannot read the document from stdin: it is larger than 4 MB')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new Error('cannot read the document from stdin: it is not UTF-8 text', { cause })
  }
}

/**
 * Checks a document with the same compiler as the gateway. Each plugin is imported on its own thread.
 * @param values variables, and secrets in Vault; default: the environment of this process
 */
export async function checkDocument(
  source: DocumentSource,
  values: Pick<LoadOptions, 'env' | 'secrets'> = { env: process.env },
): Promise<LoadResult> {
  await loadModules(source)
  return loadWith(source, { catalog, plugins: await readPlugins(source, catalog), ...values })
}

async function loadModules({ text }: DocumentSource): Promise<void> {
  await Promise.all([loadBodyLanguages(text, catalog), loadNamedPolicies(text, catalog)])
}

/** Loads a document. Its text may name policies with escapes, so that errors are found with all policies. */
async function loadWith(source: DocumentSource, settings: LoadOptions): Promise<LoadResult> {
  const activity = source.text.length < LARGE ? null : showActivity(`checking ${source.name}`)
  try {
    const result = loadDocument(source, settings)
    if (result.ok) return result
    await catalog.load?.(() => true)
    return loadDocument(source, settings)
  } finally {
    activity?.end()
  }
}

/** Returns the plugins of a document. @throws Failure if one of them cannot be used */
export async function readPluginsOf(source: DocumentSource): Promise<readonly PluginPlan[]> {
  const plugins = await readPlugins(source, catalog)
  for (const [name, plugin] of plugins) {
    if (isIssue(plugin))
      throw new Failure(`the plugin '${name}': ${plugin.message} (${plugin.remedy})`, EXIT.invalid)
  }
  return usablePlugins(plugins)
}

/** Loads a document and prints its warnings to stderr. @throws Failure with all errors */
async function loadSource(source: DocumentSource, machineHint: string): Promise<ConfigBundle> {
  const result = await checkDocument(source)
  if (!result.ok) {
    const isOfMachine = result.diagnostics.some(({ ofMachine }) => ofMachine)
    const hint = isOfMachine && machineHint !== '' ? [machineHint] : []
    const text = [...result.diagnostics.map(formatDiagnostic), ...hint].join('\n')
    throw new Failure(text, EXIT.invalid, { diagnostics: result.diagnostics })
  }
  for (const warning of result.warnings) say(formatDiagnostic(warning))
  return result.bundle
}

/**
 * Checks a document for a gateway on another machine and prints warnings to stderr. Variables and files of
 * this machine are not used, even if they have the same names.
 * @throws Failure with all errors that do not depend on the machine
 */
export async function checkForElsewhere(source: DocumentSource): Promise<void> {
  await loadModules(source)
  const result = await loadWith(source, { catalog, env: {}, readFile: readNothing, readEnd: readNothing })
  const found = result.ok ? result.warnings : result.diagnostics
  const mistakes = found.filter(({ severity, ofMachine }) => severity === 'error' && ofMachine === undefined)
  if (mistakes.length > 0)
    throw new Failure(mistakes.map(formatDiagnostic).join('\n'), EXIT.invalid, { diagnostics: mistakes })
  for (const one of found) if (one.severity === 'warning') say(formatDiagnostic(one))
}

/**
 * Returns the plan of a document for a gateway on another machine, with references as written. Null if the
 * plan depends on values of that machine.
 */
export async function planForElsewhere(source: DocumentSource): Promise<Plan | null> {
  try {
    await loadModules(source)
    const files = { readFile: readNothing, readEnd: readNothing }
    const result = await loadWith(source, { catalog, env: {}, ...files, isForElsewhere: true })
    return result.ok ? result.bundle.plan : null
  } catch {
    return null
  }
}

function readNothing(): never {
  throw new Error('it is on the machine of the gateway')
}

/**
 * Loads the document in a file.
 * @param machineHint a last line for errors that depend on the variables and files of this machine
 * @throws Failure if it cannot be read, or with all errors
 */
export async function loadFile(file: string, machineHint = ''): Promise<ConfigBundle> {
  return loadSource(await readDocument(file), machineHint)
}
