import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONTRACT_VERSION } from '@sluice/core'
import { readTextFile } from '../file/text-file.js'
import { entryOf } from './package-entry.js'
import { digestOfFiles } from './package-files.js'

/** A plugin on disk whose code has not been loaded. */
export interface LocatedPlugin {
  readonly name: string
  readonly package: string
  readonly version: string
  readonly contract: string
  readonly entry: string
  readonly digest: string
}

/** Matches npm package names, which cannot contain path traversal. */
const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const MAX_MANIFEST_BYTES = 1024 * 1024
const REMEDY = 'use the name of an npm package, or ./ and a folder below the document'

/** Error for a plugin that cannot be used, with a suggested fix. */
export class PluginProblem extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}

/**
 * Finds a plugin: a package in `node_modules` of the document's folder or its parents, then in those of the
 * gateway's installation. Names that start with `./` are folders below the document.
 * @throws PluginProblem if it is missing, or needs another contract version
 */
export async function locatePlugin(name: string, from: string): Promise<LocatedPlugin> {
  const folder = folderOf(name, from)
  const facts = manifestOf(folder)
  const contract = (facts['sluice'] as { readonly contract?: unknown } | undefined)?.contract
  await checkContract(contract)
  const { name: packageName, version } = facts
  if (typeof packageName !== 'string' || typeof version !== 'string')
    throw new PluginProblem('its package.json lacks a name or version', 'add both')
  try {
    const located = { name, package: packageName, version, contract: String(contract) }
    return { ...located, entry: entryOf(folder, facts), digest: digestOfFiles(folder) }
  } catch (error) {
    throw new PluginProblem((error as Error).message, 'fix the package')
  }
}

function folderOf(name: string, from: string): string {
  if (name.startsWith('./')) return localFolder(name, from)
  if (!PACKAGE.test(name)) throw new PluginProblem('it is not a valid package name', REMEDY)
  const own = dirname(fileURLToPath(import.meta.url))
  for (const start of [from, own]) {
    for (let at = resolve(start); ; at = dirname(at)) {
      const folder = join(at, 'node_modules', name)
      if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
      if (at === dirname(at)) break
    }
  }
  const remedy = `install it in the folder of the document: npm install --prefix . ${name}`
  throw new PluginProblem('the package was not found in node_modules of the document or the gateway', remedy)
}

function localFolder(name: string, from: string): string {
  if (name.split('/').includes('..'))
    throw new PluginProblem('its path leaves the folder of the document', REMEDY)
  const folder = resolve(from, name)
  if (!existsSync(join(folder, 'package.json')))
    throw new PluginProblem('that folder has no package.json', REMEDY)
  return realpathSync(folder)
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const facts: unknown = JSON.parse(readTextFile(join(folder, 'package.json'), MAX_MANIFEST_BYTES))
    if (typeof facts === 'object' && facts !== null) return facts as Readonly<Record<string, unknown>>
    throw new Error('it is not an object')
  } catch (error) {
    throw new PluginProblem(`its package.json cannot be read: ${(error as Error).message}`, 'fix it')
  }
}

async function checkContract(range: unknown): Promise<void> {
  // Loaded here because documents without plugins do not need it.
  const { default: semver } = await import('semver')
  if (typeof range !== 'string' || semver.validRange(range) === null) {
    const remedy = `add "sluice": { "contract": "^${CONTRACT_VERSION}" }`
    throw new PluginProblem('its package.json does not declare the contract version it needs', remedy)
  }
  if (semver.satisfies(CONTRACT_VERSION, range)) return
  const message = `it needs contract version ${range}, but this gateway has ${CONTRACT_VERSION}`
  throw new PluginProblem(message, 'install a version of the plugin that supports this gateway')
}
