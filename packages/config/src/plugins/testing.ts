import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A package for a test. */
export interface WrittenPackage {
  readonly name: string
  readonly version?: string
  /** Supported contract versions; null: not declared. */
  readonly contract?: string | null
  /** Additional keys of its `package.json`. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Source of its module. */
  readonly code: string
}

/**
 * Writes a package into the `node_modules` of a folder and replaces an existing one. Returns the package
 * folder.
 */
export function installPackage(folder: string, written: WrittenPackage): string {
  const { name, version = '1.0.0', contract = '^1', facts = {}, code } = written
  const at = join(folder, 'node_modules', name)
  const sluice = contract === null ? {} : { sluice: { contract } }
  const manifest = { name, version, type: 'module', exports: './index.js', ...sluice, ...facts }
  writeText(join(at, 'package.json'), JSON.stringify(manifest))
  writeText(join(at, 'index.js'), code)
  return at
}

/**
 * Returns the code of a policy with a string parameter, `say`, and a secret.
 * @param compile body of its compile function, which can use `config`, `env`, and the exports of
 * `@sluice/core` as `sluice`
 */
export function policyCode(name: string, compile = 'return null'): string {
  return `export default (sluice) => ({
    name: '${name}',
    summary: 'Does what a test wants.',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: { say: { type: 'string', default: 'hello' }, key: { type: 'string', secret: true } },
    },
    compile(config, env) { ${compile} },
  })`
}

function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
