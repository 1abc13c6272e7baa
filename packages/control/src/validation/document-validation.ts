import { resolve } from 'node:path'
import {
  type Diagnostic,
  diffPlans,
  type LoadResult,
  loadBodyLanguages,
  loadDocument,
  loadNamedPolicies,
  normalizeDocument,
  writtenSecretsOf,
} from '@sluice/config'
import { DOCUMENT_PATH } from '@sluice/control-client'
import type { Catalog } from '@sluice/core'
import { parse } from 'yaml'
import type { BundleFiles, Validation, ValidationRequest } from './validation.js'

/** Folder that the files of a bundle appear to be in. Paths of the gateway's machine must not lead into it. */
const FOLDER = '/bundle'
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/**
 * Checks the document of a bundle as far as that is possible without the environment of a gateway: variables and files
 * outside the bundle are unknown here, and each gateway checks them when it prepares the bundle.
 */
export async function validateBundle(request: ValidationRequest, catalog: Catalog): Promise<Validation> {
  const after = await load(request.files, catalog)
  // The schemas of the policies, which mark the secrets, are loaded now.
  const secrets = [...secretFiles(request.files), ...documentSecrets(request.files, catalog)]
  if (!after.ok)
    return { ok: false, diagnostics: [...secrets, ...after.diagnostics].filter(isMistake).map(named) }
  if (secrets.length > 0) return { ok: false, diagnostics: secrets }
  const warnings = after.warnings.filter(({ ofMachine }) => ofMachine === undefined).map(named)
  if (request.before === undefined) return { ok: true, warnings, changes: [] }
  const before = request.before === null ? null : await load(request.before, catalog)
  const old = before?.ok ? before.bundle.plan : null
  return { ok: true, warnings, changes: diffPlans(old, after.bundle.plan, catalog) }
}

async function load(files: BundleFiles, catalog: Catalog): Promise<LoadResult> {
  const text = textOf(files)
  const readFile = (path: string): string => {
    const content = files.get(path.slice(FOLDER.length + 1))
    if (!path.startsWith(`${FOLDER}/`) || content === undefined)
      throw new Error('it is on the machine of the gateway')
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  }
  const readEnd = (path: string): string => Buffer.from(readFile(path)).toString('latin1')
  const source = { name: resolve(FOLDER, DOCUMENT_PATH), text }
  await loadBodyLanguages(text, catalog)
  await loadNamedPolicies(text, catalog)
  const options = { catalog, env: {}, readFile, readEnd, isForElsewhere: true }
  const result = loadDocument(source, options)
  if (result.ok || catalog.load === undefined) return result
  await catalog.load(() => true)
  return loadDocument(source, options)
}

/** Finds secrets in the document that are not references. Their digests are allowed. */
function documentSecrets(files: BundleFiles, catalog: Catalog): Diagnostic[] {
  let root: unknown
  try {
    root = normalizeDocument(parse(textOf(files)), catalog).value
  } catch {
    // The syntax errors are reported with their positions when the document is loaded.
    return []
  }
  return writtenSecretsOf(root, catalog)
    .filter((place) => !place.endsWith('.sha256'))
    .map((place) =>
      problem(DOCUMENT_PATH, place, {
        message: `${place} is a secret in clear text`,
        remedy: 'use ${env:NAME} or ${file:PATH}; the gateway resolves it',
      }),
    )
}

function secretFiles(files: BundleFiles): Diagnostic[] {
  return [...files]
    .filter(([, content]) => PRIVATE_KEY.test(Buffer.from(content).toString('latin1')))
    .map(([path]) =>
      problem(path, '', {
        message: 'the file contains a private key',
        remedy: 'keep it on the machines of the gateways and name it by an absolute path',
      }),
    )
}

function problem(file: string, path: string, wording: Pick<Diagnostic, 'message' | 'remedy'>): Diagnostic {
  return { severity: 'error', file, line: 1, column: 1, path, ...wording }
}

function isMistake({ severity, ofMachine }: Diagnostic): boolean {
  return severity === 'error' && ofMachine === undefined
}

function named(diagnostic: Diagnostic): Diagnostic {
  return diagnostic.file.startsWith(FOLDER)
    ? { ...diagnostic, file: diagnostic.file.slice(FOLDER.length + 1) }
    : diagnostic
}

function textOf(files: BundleFiles): string {
  return Buffer.from(files.get(DOCUMENT_PATH) ?? []).toString('utf8')
}
