import { checkImports, runLintTool } from './lint-tools/lint-tool.mjs'

/** `npm run lint`, and `npm run format` with `--write`, which only formats. */
const args = process.argv.slice(2)
const steps = [() => runLintTool('biome', ['check', ...args], { stdio: 'inherit' })]
if (!args.includes('--write')) steps.push(() => checkImports({ stdio: 'inherit' }))
for (const step of steps) {
  const { status, error } = step()
  if (error !== undefined) console.error(`cannot run the linter: ${error.message}`)
  if (status !== 0) process.exitCode = status ?? 1
}
