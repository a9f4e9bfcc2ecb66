/** What a person wants to know about a work item. */
export type Intent = 'blockers' | 'who' | 'due' | 'subtasks' | 'comments' | 'next' | 'status' | 'summary';

// In the order of the answers. Keywords, not language understanding: what matches nothing gets the whole brief.
const PATTERNS: readonly (readonly [Intent, RegExp])[] = [
  [
    'status',
    /\b(?:status|state|progress|how far|(?:where|how) (?:does|do|is|are) (?:it|this|that|they|we)\b.{0,20}\b(?:stand|going|doing)|(?:is|are) (?:it|this|they) (?:done|finished|ready))\b/i,
  ],
  ['who', /\b(?:who|whose|assignee|assigned|owner|responsible|reporter)\b/i],
  ['due', /\b(?:due|deadline|when|late|overdue|on time|by what date|target date)\b/i],
  [
    'blockers',
    /\b(?:block(?:s|ed|er|ers|ing)?|stuck|waiting|waits|depend(?:s|ing|ency|encies)?|impediments?|in the way|holding (?:it|this|us) up)\b/i,
  ],
  ['subtasks', /\b(?:sub-?\s?tasks?|children|child (?:items?|issues?)|parts|steps left)\b/i],
  [
    'comments',
    /\b(?:comments?|commented|discuss(?:ed|ion)?|said|talk(?:ed|ing)?|conversation|open questions?|thread)\b/i,
  ],
  [
    'next',
    /\b(?:next|what (?:now|to do|should|can|must) ?(?:i|we|be|they)?|to-?\s?do|action items?|remaining|left to do)\b/i,
  ],
];
const SUMMARY =
  /\b(?:summar(?:y|ise|ize|ies)|brief|overview|tl;?dr|explain|tell me (?:more )?about|what is (?:it|this|that)\b)/i;

/** Who the comment calls is no part of what it asks. */
const MENTION = /\[@[^\]\n]{0,300}\]\(~[^)\n]{0,300}\)/g;

/** "What is SHOP-1 waiting for?" asks what "what is it waiting for?" asks. */
const KEY = /\b[A-Z][A-Z0-9_]{1,40}-\d{1,19}\b/g;

/** What the text asks for, most specific first; empty when nothing is recognised. */
export function intentsOf(text: string): readonly Intent[] {
  const asked = text.slice(0, 4_000).replace(MENTION, ' ').replace(KEY, 'it');
  const specific = PATTERNS.filter(([, pattern]) => pattern.test(asked)).map(([intent]) => intent);
  if (SUMMARY.test(asked)) return [...specific, 'summary'];
  return specific;
}
