export {
  type Condition,
  type ConditionCheck,
  type ConditionNeeds,
  checkCondition,
  compileCondition,
  compileExpression,
} from './condition.js'
export { ConditionError } from './condition-error.js'
export type { ConditionScope } from './parser.js'
export type { ConditionIssue } from './syntax-remedy.js'
