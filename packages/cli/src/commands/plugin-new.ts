import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { CONTRACT_VERSION } from '@sluice/core'
import { Failure, usageError } from '../output/failure.js'
import { print } from '../output/output.js'
import { templateFiles } from '../plugins/template.js'

const NAME = /^(?:@[a-z0-9-]+\/)?[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/** Packages of this installation that plugin development needs, for types, tests and `gw`. */
const LINKED = ['@sluice/core', '@sluice/policies', '@sluice/cli', 'typescript', '@types/node'] as const

/** Creates a plugin folder with a passing test. @throws Failure if the folder exists */
export function newPlugin(_options: object, name: string): void {
  if (!NAME.test(name))
    throw usageError(`'${name}' is not a valid package name; use for example sluice-plugin-tenants`)
  const folder = resolve(name.split('/').at(-1)!)
  if (existsSync(folder)) throw new Failure(`${folder} already exists; choose another name`)
  mkdirSync(folder)
  const found = LINKED.flatMap((linked) => {
    const at = installed(linked)
    return at === null ? [] : [{ name: linked, at }]
  })
  const dependencies = Object.fromEntries(
    found.map(({ name: linked, at }) => [linked, dependencyOf(linked, at, realpathSync(folder))]),
  )
  const files = templateFiles({ name, contract: `^${CONTRACT_VERSION.split('.')[0]}`, dependencies })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  link(folder, found)
  print(`created ${folder}`, 'run npm test in it, then add it to plugins in a document')
}

/**
 * Returns the version of a dependency. Sluice packages come from this installation, because they are in no
 * registry.
 */
function dependencyOf(name: string, at: string, folder: string): string {
  if (name.startsWith('@sluice/')) return `file:${relative(folder, at)}`
  return (JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { version: string }).version
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
function link(folder: string, packages: readonly { readonly name: string; readonly at: string }[]): void {
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
