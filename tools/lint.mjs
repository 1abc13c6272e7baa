import { runLintTool } from './lint-tools/lint-tool.mjs'

/** `npm run lint`, and `npm run format` with `--write`. */
const { status, error } = runLintTool('biome', ['check', ...process.argv.slice(2)], { stdio: 'inherit' })
if (error !== undefined) console.error(`cannot run the linter: ${error.message}`)
process.exit(status ?? 1)
