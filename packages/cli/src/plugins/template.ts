/** Values for the files of a new plugin. */
export interface TemplateFacts {
  readonly name: string
  /** Supported contract versions. */
  readonly contract: string
  readonly dependencies: Readonly<Record<string, string>>
}

/** Returns the files of a new plugin by path. */
export function templateFiles(facts: TemplateFacts): Readonly<Record<string, string>> {
  const policy = facts.name
    .split('/')
    .at(-1)!
    .replace(/^sluice-plugin-/, '')
  return {
    'package.json': manifest(facts),
    'tsconfig.json': TSCONFIG,
    '.gitignore': 'node_modules\ndist\n',
    'README.md': readme(facts.name, policy),
    'example.yaml': EXAMPLE.replaceAll('@@', policy),
    'src/index.ts': MODULE.replaceAll('@@', policy),
    'src/index.test.ts': TEST,
  }
}

function manifest({ name, contract, dependencies }: TemplateFacts): string {
  const facts = {
    name,
    version: '0.1.0',
    description: 'A plugin of Sluice.',
    type: 'module',
    exports: './dist/index.js',
    files: ['dist', '!dist/*.test.js', 'example.yaml', 'README.md'],
    sluice: { contract, budgetMicros: 20 },
    scripts: { build: 'tsc', prepack: 'tsc', test: 'tsc && node --test dist/ && gw plugin test' },
    devDependencies: dependencies,
  }
  return `${JSON.stringify(facts, null, 2)}\n`
}

const EXAMPLE = `# Policy uses for gw plugin test.
- use: @@
  with: { field: x-tenant, value: acme }
- use: @@
  with: { field: x-tenant, value: acme, required: authorization }
`

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
  },
  null,
  2,
)}\n`

const MODULE = `import type * as Sluice from '@sluice/core'

/** The gateway passes its own \`@sluice/core\`, so this package imports only its types. */
export default function plugin({ definePolicy, headerValue, setHeader, Type }: typeof Sluice) {
  return definePolicy({
    name: '@@',
    summary: 'Sets a request header, and rejects requests that lack another one.',
    schema: Type.Object(
      {
        field: Type.String({ pattern: '^[a-z][a-z0-9-]*$', description: 'Header to set, in lower case.' }),
        value: Type.String({ maxLength: 1000, description: 'Value of the header.' }),
        required: Type.Optional(Type.String({ description: 'Required header, in lower case.' })),
      },
      { additionalProperties: false, description: 'Configuration of the policy.' },
    ),
    compile({ field, value, required }, env) {
      const refused = env.refusal('GW_POLICY_REFUSED', \`send the header \${required}\`)
      return {
        name: '@@',
        onRequest(x) {
          if (required !== undefined && headerValue(x.headers, required) === null) return refused
          setHeader(x.headers, field, value)
          return null
        },
      }
    },
  })
}
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sluice from '@sluice/core'
import { exchange, testEnv } from '@sluice/policies/testing'
import plugin from './index.js'

const policy = plugin(sluice)

test('sets the header and rejects requests without the required one', async () => {
  const step = await policy.compile({ field: 'x-tenant', value: 'acme', required: 'authorization' }, testEnv())
  const x = exchange({ headers: ['authorization', 'Bearer abc'] })
  assert.equal(step?.onRequest?.(x), null)
  assert.equal(sluice.headerValue(x.headers, 'x-tenant'), 'acme')
  const refused = await step?.onRequest?.(exchange())
  assert.equal(refused?.problem?.code, 'GW_POLICY_REFUSED')
})
`

function readme(name: string, policy: string): string {
  return `# ${name}

A Sluice plugin with the policy \`${policy}\`.

\`\`\`yaml
plugins: [${name}]
routes:
  - id: all
    match: { path: /* }
    upstream: up
    policies: [{ use: ${policy}, with: { field: x-tenant, value: acme } }]
\`\`\`

* \`npm test\` builds the plugin, runs its tests, and runs the contract tests (\`gw plugin test\`) with the uses in \`example.yaml\`.
* \`sluice.budgetMicros\` in \`package.json\` limits the additional CPU time per request, in microseconds.
* \`npm pack\` creates the archive that operators install in the folder of their document: \`npm install --prefix . ${name}-0.1.0.tgz\`.
`
}
