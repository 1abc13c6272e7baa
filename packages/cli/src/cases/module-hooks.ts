import { readFile } from 'node:fs/promises'
import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import swc from '@swc/wasm-typescript'

// Module hooks for case files: TypeScript is transformed, and projects need no installed copy of this package.

const OWN_MODULE = '@sluice/cli/cases'

/** Finds this package's module of types and `defineCases` from any project. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === OWN_MODULE
    ? { url: new URL('../cases.js', import.meta.url).href, shortCircuit: true }
    : next(specifier, context)

/** Transforms TypeScript. */
export const load: LoadHook = async (url, context, next) => {
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context)
  const filename = fileURLToPath(url)
  const { code } = swc.transformSync(await readFile(filename, 'utf8'), {
    mode: 'transform',
    filename,
    module: true,
  })
  return { format: 'module', source: code, shortCircuit: true }
}
