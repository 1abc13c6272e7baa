import {
  composeDocument,
  type Diagnostic,
  DocumentLoader,
  diffBundles,
  isSourceDocument,
  type LoadResult,
  loadBodyLanguages,
  loadNamedPolicies,
} from '@sluice/config'
import { DOCUMENT_PATH } from '@sluice/control-client'
import type { Catalog } from '@sluice/core'
import type { BundleFiles, Validation, ValidationRequest } from './validation.js'

/** Folder that the files of a bundle appear to be in. Paths of the gateway's machine must not lead into it. */
const FOLDER = '/bundle'
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/**
 * Checks documents of bundles as far as that is possible without the environment of a gateway: variables and files
 * outside the bundle are unknown here, and each gateway checks them when it prepares the bundle. Routes that did not
 * change since the last document are not checked again.
 */
export class BundleValidation {
  readonly #catalog: Catalog
  readonly #loader = new DocumentLoader()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Checks a document, or composes one from its source and checks that. */
  async validate({ compose, ...request }: ValidationRequest): Promise<Validation> {
    if (compose === undefined) return this.#check(request)
    const catalog = this.#catalog
    const secrets = secretFiles(request.files)
    if (secrets.length > 0) return { ok: false, diagnostics: secrets }
    const documents = [...request.files].filter(([path]) => isSourceDocument(path))
    for (const [, content] of documents)
      await loadNamedPolicies(Buffer.from(content).toString('utf8'), catalog)
    const composed = composeDocument(request.files, { ...compose, catalog })
    if (!composed.ok) return composed
    const others = [...request.files].filter(([path]) => !isSourceDocument(path))
    const files = new Map([...others, [DOCUMENT_PATH, Buffer.from(composed.text)] as const])
    const result = await this.#check({ ...request, files })
    const located = (one: Diagnostic) => (one.file === DOCUMENT_PATH ? composed.located(one) : one)
    if (!result.ok) return { ok: false, diagnostics: result.diagnostics.map(located) }
    return { ...result, warnings: result.warnings.map(located), text: composed.text }
  }

  async #check({ files, before }: ValidationRequest): Promise<Validation> {
    const secrets = secretFiles(files)
    const old = before === undefined || before === null ? null : await this.#load(before)
    const loaded = await this.#load(files)
    if (!loaded.ok)
      return { ok: false, diagnostics: [...secrets, ...loaded.diagnostics].filter(isMistake).map(named) }
    if (secrets.length > 0) return { ok: false, diagnostics: secrets }
    const warnings = loaded.warnings.filter(({ ofMachine }) => ofMachine === undefined).map(named)
    if (before === undefined) return { ok: true, warnings, changes: [] }
    const changes = diffBundles(old?.ok ? old.bundle : null, loaded.bundle, this.#catalog)
    return { ok: true, warnings, changes }
  }

  async #load(files: BundleFiles): Promise<LoadResult> {
    const text = Buffer.from(files.get(DOCUMENT_PATH) ?? []).toString('utf8')
    const catalog = this.#catalog
    const readFile = (path: string): string => {
      const content = files.get(path.slice(FOLDER.length + 1))
      if (!path.startsWith(`${FOLDER}/`) || content === undefined)
        throw new Error('it is on the machine of the gateway')
      return new TextDecoder('utf-8', { fatal: true }).decode(content)
    }
    const readEnd = (path: string): string => Buffer.from(readFile(path)).toString('latin1')
    const source = { name: `${FOLDER}/${DOCUMENT_PATH}`, text }
    await loadBodyLanguages(text, catalog)
    await loadNamedPolicies(text, catalog)
    const options = { catalog, env: {}, readFile, readEnd, isForElsewhere: true, refusesSecrets: true }
    const result = this.#loader.load(source, options)
    if (result.ok || catalog.load === undefined) return result
    await catalog.load(() => true)
    return this.#loader.load(source, options)
  }
}

function secretFiles(files: BundleFiles): Diagnostic[] {
  return [...files]
    .filter(([, content]) => PRIVATE_KEY.test(Buffer.from(content).toString('latin1')))
    .map(([file]) => ({
      ...{ severity: 'error', file, line: 1, column: 1, path: '' },
      message: 'the file contains a private key',
      remedy: 'keep it on the machines of the gateways and name it by an absolute path',
    }))
}

function isMistake({ severity, ofMachine }: Diagnostic): boolean {
  return severity === 'error' && ofMachine === undefined
}

function named(diagnostic: Diagnostic): Diagnostic {
  return diagnostic.file.startsWith(FOLDER)
    ? { ...diagnostic, file: diagnostic.file.slice(FOLDER.length + 1) }
    : diagnostic
}
