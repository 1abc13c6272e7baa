import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONTRACT_VERSION } from '@sluice/core'
import { readTextFile } from '../text-file.js'
import { entryOf } from './package-entry.js'
import { digestOfFiles } from './package-files.js'

/** A plugin on disk whose code has not been looked at. */
export interface LocatedPlugin {
  readonly name: string
  readonly package: string
  readonly version: string
  readonly contract: string
  readonly entry: string
  readonly digest: string
}

/** Names that npm takes; nothing of a path can be written with them. */
const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const MAX_MANIFEST_BYTES = 1024 * 1024
const REMEDY = 'name an npm package, or with ./ a folder beside the document'

/** Why a plugin cannot be used, and what to do about it. */
export class PluginProblem extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}

/**
 * Finds a plugin: a package in a `node_modules` of the folder of the document or of a folder above, else in those of the
 * gateway's own installation; with `./` a folder below that of the document.
 * @throws PluginProblem when it is not there, or is made for another contract.
 */
export async function locatePlugin(name: string, from: string): Promise<LocatedPlugin> {
  const folder = folderOf(name, from)
  const facts = manifestOf(folder)
  const contract = (facts['sluice'] as { readonly contract?: unknown } | undefined)?.contract
  await checkContract(contract)
  const { name: packageName, version } = facts
  if (typeof packageName !== 'string' || typeof version !== 'string')
    throw new PluginProblem('its package.json has no name or no version', 'add both')
  try {
    const located = { name, package: packageName, version, contract: String(contract) }
    return { ...located, entry: entryOf(folder, facts), digest: digestOfFiles(folder) }
  } catch (error) {
    throw new PluginProblem((error as Error).message, 'correct the package')
  }
}

function folderOf(name: string, from: string): string {
  if (name.startsWith('./')) return localFolder(name, from)
  if (!PACKAGE.test(name)) throw new PluginProblem('it is no name of a package', REMEDY)
  const own = dirname(fileURLToPath(import.meta.url))
  for (const start of [from, own]) {
    for (let at = resolve(start); ; at = dirname(at)) {
      const folder = join(at, 'node_modules', name)
      if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
      if (at === dirname(at)) break
    }
  }
  const remedy = `install it in the folder of the document: npm install --prefix . ${name}`
  throw new PluginProblem(
    'there is no such package in the node_modules of the document or the gateway',
    remedy,
  )
}

function localFolder(name: string, from: string): string {
  if (name.split('/').includes('..'))
    throw new PluginProblem('its path leads out of the folder of the document', REMEDY)
  const folder = resolve(from, name)
  if (!existsSync(join(folder, 'package.json')))
    throw new PluginProblem('there is no package.json in that folder', REMEDY)
  return realpathSync(folder)
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const facts: unknown = JSON.parse(readTextFile(join(folder, 'package.json'), MAX_MANIFEST_BYTES))
    if (typeof facts === 'object' && facts !== null) return facts as Readonly<Record<string, unknown>>
    throw new Error('it is no object')
  } catch (error) {
    throw new PluginProblem(`its package.json cannot be read: ${(error as Error).message}`, 'correct it')
  }
}

async function checkContract(range: unknown): Promise<void> {
  // Not needed by documents without plugins.
  const { default: semver } = await import('semver')
  if (typeof range !== 'string' || semver.validRange(range) === null) {
    const remedy = `add "sluice": { "contract": "^${CONTRACT_VERSION}" }`
    throw new PluginProblem('its package.json does not say which contract it is made for', remedy)
  }
  if (semver.satisfies(CONTRACT_VERSION, range)) return
  const message = `it is made for version ${range} of the contract, and this gateway has ${CONTRACT_VERSION}`
  throw new PluginProblem(message, 'install a version of the plugin that is made for this gateway')
}
