import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A package as a test writes it. */
export interface WrittenPackage {
  readonly name: string
  readonly version?: string
  /** The range of the contract; null: it says none. */
  readonly contract?: string | null
  /** More of its `package.json`. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Its module. */
  readonly code: string
}

/** Writes a package into the `node_modules` of a folder, over the one that is there. Returns its own folder. */
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
 * The code of a policy that takes a text, `say`, and a secret.
 * @param compile the body of its compile function, which sees `config`, `env` and what `@sluice/core` exports as `sluice`.
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
