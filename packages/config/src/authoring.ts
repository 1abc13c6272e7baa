/** Tools for authors of documents: lint and format. They are loaded only by their commands. */
export { type Formatted, formatDocument } from './format/format-document.js'
export { type LintFinding, type LintOptions, lintDocument } from './lint/lint-document.js'
export { type LintRule, type LintSeverity, SEVERITIES } from './lint/rules/rule.js'
export { LINT_RULES } from './lint/rules/rules.js'
