import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { CONTRACT_VERSION } from '@sluice/core'
import { EXIT, Failure } from '../failure.js'
import { print } from '../output/output.js'
import { templateFiles } from '../plugins/template.js'

const NAME = /^(?:@[a-z0-9-]+\/)?[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/** Packages of this installation that a plugin is developed with; they are needed for types, tests and `gw`. */
const LINKED = ['@sluice/core', '@sluice/policies', '@sluice/cli', 'typescript', '@types/node'] as const

/** Makes the folder of a plugin whose test passes. @throws Failure when there is something in its place. */
export function newPlugin(_options: object, name: string): number {
  if (!NAME.test(name))
    throw new Failure(
      EXIT.usage,
      `'${name}' is no name for a package; write for example sluice-plugin-tenants`,
    )
  const folder = resolve(name.split('/').at(-1)!)
  if (existsSync(folder)) throw new Failure(EXIT.failed, `${folder} is there already; choose another name`)
  mkdirSync(folder)
  const found = LINKED.flatMap((linked) => {
    const at = installed(linked)
    return at === null ? [] : [{ name: linked, at }]
  })
  const dependencies = Object.fromEntries(
    found.map(({ name: linked, at }) => [linked, dependencyOf(linked, at, realpathSync(folder))]),
  )
  const files = templateFiles({ name, contract: majorOf(CONTRACT_VERSION), dependencies })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  link(folder, found)
  print(`made ${folder}`, 'run npm test in it, then name it under plugins in a document')
  return EXIT.ok
}

function majorOf(version: string): string {
  return `^${version.split('.')[0]}`
}

/** The packages of Sluice are in no registry: they are those of this installation. */
function dependencyOf(name: string, at: string, folder: string): string {
  if (name.startsWith('@sluice/')) return `file:${relative(folder, at)}`
  return (JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { version: string }).version
}

/** The folder of a package of this installation; null: it is not installed, as a compiler may not be. */
function installed(name: string): string | null {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, 'package.json'))) return realpathSync(join(folder, name))
  }
  return null
}

/** What `npm install` would do, without a network. */
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
