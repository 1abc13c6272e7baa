import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { CONTRACT_VERSION } from '@sluice/core'
import { Failure, usageError } from '../output/failure.js'
import { print } from '../output/output.js'
import { version } from '../output/version.js'
import { templateFiles } from '../plugins/template.js'

const NAME = /^(?:@[a-z0-9-]+\/)?[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/** Packages of this installation that plugin development needs, for types, tests and `gw`. */
const OWN = ['@sluice/core', '@sluice/policies', '@sluice/cli'] as const

/** Other packages that it needs, with the versions that the repository tests. */
export const TOOLS = { typescript: '7.0.2', '@types/node': '20.19.43' } as const

/** Creates a plugin folder with a passing test. @throws Failure if the folder exists */
export function newPlugin(_options: object, name: string): void {
  if (!NAME.test(name))
    throw usageError(`'${name}' is not a valid package name; use for example sluice-plugin-tenants`)
  const folder = resolve(name.split('/').at(-1)!)
  if (existsSync(folder)) throw new Failure(`${folder} already exists; choose another name`)
  mkdirSync(folder)
  const linked = clonedPackages()
  const dependencies =
    linked.length === 0
      ? { ...Object.fromEntries(OWN.map((own) => [own, version()])), ...TOOLS }
      : Object.fromEntries(linked.map((one) => [one.name, dependencyOf(one, realpathSync(folder))]))
  const files = templateFiles({ name, contract: `^${CONTRACT_VERSION.split('.')[0]}`, dependencies })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  if (linked.length > 0) link(folder, linked)
  const steps = linked.length > 0 ? 'npm test' : 'npm install && npm test'
  print(`created ${folder}`, `run ${steps} in it, then add it to plugins in a document`)
}

interface LinkedPackage {
  readonly name: string
  readonly at: string
}

/**
 * Returns the packages that a new plugin links if `gw` runs in a clone of the repository, whose code is in no registry.
 * Returns none if `gw` was installed from packages.
 */
function clonedPackages(): readonly LinkedPackage[] {
  if (import.meta.filename.split(sep).includes('node_modules')) return []
  return [...OWN, ...Object.keys(TOOLS)].flatMap((name) => {
    const at = installed(name)
    return at === null ? [] : [{ name, at }]
  })
}

function dependencyOf({ name, at }: LinkedPackage, folder: string): string {
  return name in TOOLS ? TOOLS[name as keyof typeof TOOLS] : `file:${relative(folder, at)}`
}

/** Returns the folder of an installed package, or null (a compiler may be missing). */
function installed(name: string): string | null {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, 'package.json'))) return realpathSync(join(folder, name))
  }
  return null
}

/** Links packages as `npm install` would, without network access. */
function link(folder: string, packages: readonly LinkedPackage[]): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const { name, at } of packages) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(at, join(modules, name))
    const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
      bin?: Record<string, string>
    }
    for (const [command, path] of Object.entries(bin ?? {}))
      symlinkSync(join(at, path), join(modules, '.bin', command))
  }
}
