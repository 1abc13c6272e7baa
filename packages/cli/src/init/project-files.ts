import { stringify } from 'yaml'

/** Values for the files of a project. */
export interface Project {
  readonly name: string
  /** Version of `@sluice/cli`. */
  readonly version: string
  readonly document: string
  /** Test cases for `gw test`. */
  readonly cases: object
  /** JSON Schema of documents and of case files, for editors. */
  readonly schemas: { readonly document: object; readonly cases: object }
}

const SCHEMA_LINE = '# yaml-language-server: $schema='

/** The document of a project without an API description. */
export const STARTER_DOCUMENT = `version: 1
listeners:
  - address: 127.0.0.1:8080
    engine: node
    health: true # serves /-/healthz and /-/readyz for load balancers
    limits: { headerBytes: 16kb, bodyBytes: 1mb }
upstreams:
  api:
    targets: [http://127.0.0.1:9000]
    timeouts: { connect: 2s, headers: 10s, total: 30s }
policies:
  - id: pace
    use: rate-limit
    with: { limit: 100/s }
routes:
  - id: hello
    match: { path: /hello/*, methods: [GET, POST] }
    upstream: api
    policies: [pace]
`

/** Test cases for \`STARTER_DOCUMENT\`. */
export const STARTER_CASES = {
  cases: [
    {
      name: 'a request reaches the upstream',
      request: 'GET /hello/world',
      upstreams: { api: { json: { hello: 'world' } } },
      expect: {
        route: 'hello',
        policies: { pace: 'passed' },
        upstream: { name: 'api', path: '/hello/world' },
        response: { status: 200, json: { hello: 'world' } },
      },
    },
    {
      name: 'an unsupported method is refused',
      request: 'DELETE /hello/world',
      expect: { upstream: 'none', response: { status: 405 } },
    },
    {
      name: 'an unknown path is not found',
      request: 'GET /no-such-path',
      expect: { route: 'none', response: { status: 404 } },
    },
  ],
}

/** Returns the files of a project by path. */
export function projectFiles(project: Project): ReadonlyMap<string, string> {
  const { name, version, document, cases, schemas } = project
  return new Map([
    ['gateway.yaml', `${SCHEMA_LINE}./gateway.schema.json\n${document}`],
    ['tests/gateway.test.yaml', `${SCHEMA_LINE}../tests.schema.json\n${stringify(cases)}`],
    ['README.md', readme(name)],
    ['.gitignore', 'data/\nnode_modules/\ntest-results.xml\n.env\n'],
    ['.github/workflows/gateway.yml', workflow()],
    ['package.json', json(packageOf(name, version))],
    // On one line: the schemas contain every policy and are for editors, not for people.
    ['gateway.schema.json', `${JSON.stringify(schemas.document)}\n`],
    ['tests.schema.json', `${JSON.stringify(schemas.cases)}\n`],
    ['.vscode/settings.json', json(editorSettings())],
    ['.vscode/extensions.json', json({ recommendations: ['redhat.vscode-yaml'] })],
  ])
}

function packageOf(name: string, version: string): object {
  return {
    name,
    private: true,
    type: 'module',
    scripts: {
      dev: 'gw dev gateway.yaml',
      test: 'gw test -c gateway.yaml',
      lint: 'gw validate gateway.yaml && gw lint gateway.yaml && gw fmt --check gateway.yaml',
      schema: 'gw schema > gateway.schema.json && gw schema --tests > tests.schema.json',
    },
    devDependencies: { '@sluice/cli': version },
  }
}

function editorSettings(): object {
  return {
    'yaml.schemas': {
      './gateway.schema.json': 'gateway.yaml',
      './tests.schema.json': 'tests/**/*.test.yaml',
    },
  }
}

function workflow(): string {
  return `name: gateway
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install
      - run: npx gw validate gateway.yaml
      - run: npx gw lint gateway.yaml
      - run: npx gw fmt --check gateway.yaml
      - run: npx gw test -c gateway.yaml --reporter junit --output-file test-results.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: test-results, path: test-results.xml }
`
}

function readme(name: string): string {
  return `# ${name}

An API gateway with Sluice.

| command | result |
| --- | --- |
| \`npm install\` | installs \`gw\` |
| \`npm run dev\` | runs the gateway with a live view, reloads it on save, and mocks unreachable upstreams |
| \`npm test\` | runs the cases in \`tests\` |
| \`npm run lint\` | checks the document: errors, risky settings and format |
| \`npm run schema\` | regenerates the editor schemas after an update of \`@sluice/cli\` |

| file | content |
| --- | --- |
| \`gateway.yaml\` | listeners, routes, policies and upstreams |
| \`tests/*.test.yaml\` | test requests and expected results |
| \`.github/workflows/gateway.yml\` | the same checks in CI |
| \`*.schema.json\` | completion and validation in editors |

Put secrets in environment variables, and refer to them with \`\${env:NAME}\`.
`
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
