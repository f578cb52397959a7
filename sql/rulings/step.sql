-- The row in which a rule speaks: one type for all games, and its kin for sight, traces, command, moves, paths and ledgers.
--
-- Every kin begins with the six columns of rulings.step, in their order, so that whoever reads
-- steps reads them all alike. A function that tells reasons returns a set of one of them; its
-- rows stand in the order in which they are told, the verdict last where there is one.

drop type if exists rulings.step cascade;
create type rulings.step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text
);

comment on type rulings.step is
'A rule that speaks: where, to what effect, in what words, and the contested point that it turns on.';
comment on column rulings.step.rule is 'Number of the rule, as the rulebook prints it';
comment on column rulings.step.clause is 'The lettered item within the rule, where it has them';
comment on column rulings.step.at is 'The place: a hex by its label, a hexside by both; null is no place, or off the map';
comment on column rulings.step.effect is 'What it does, in a word or two; of the last row, the verdict';
comment on column rulings.step.note is 'What is so there, in our own words; where the effect is unknown, what is not told';
comment on column rulings.step.point is 'The contested point that was touched';

drop type if exists rulings.sight_step cascade;
create type rulings.sight_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  range integer,
  hindrance integer
);

comment on type rulings.sight_step is
'A step about a line between two places; the last row tells visible, blocked or unknown.';
comment on column rulings.sight_step.range is 'Hexes from one end to the other';
comment on column rulings.sight_step.hindrance is
'By how much the line is hindered, of the last row in all; null in a game that knows no hindrance';

drop type if exists rulings.trace_step cascade;
create type rulings.trace_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  kind text
);

comment on type rulings.trace_step is
'A step about a cell that a straight line passes.';
comment on column rulings.trace_step.kind is 'hex, spine (a side that the line runs along) or touch (a hex met in a point)';

drop type if exists rulings.command_step cascade;
create type rulings.command_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  by text
);

comment on type rulings.command_step is
'A step about the command of a unit; the last row tells in command, out of command or unknown.';
comment on column rulings.command_step.by is 'Who commands, or might: a unit, or the company of a Hub';

drop type if exists rulings.move_step cascade;
create type rulings.move_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  remaining integer,
  by text
);

comment on type rulings.move_step is
'A step about a way over the map; of a move, the last row tells legal, illegal or unknown.';
comment on column rulings.move_step.halves is 'Halves of a movement point: of a cost, of what is spent in all';
comment on column rulings.move_step.remaining is 'Halves of a movement point that are left';
comment on column rulings.move_step.by is 'The unit that does it: who fires, who is left alone';

drop type if exists rulings.path_step cascade;
create type rulings.path_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  path text array
);

comment on type rulings.path_step is
'A step about a way that is looked for; the last row tells open, closed or unknown, and the way.';
comment on column rulings.path_step.path is 'Labels of the way found, both ends included; empty where there is none';

drop type if exists rulings.ledger_step cascade;
create type rulings.ledger_step as (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  by text,
  halves integer,
  facts jsonb
);

comment on type rulings.ledger_step is
'An entry of a ledger: what a rule adds to a value, or does to it; the last row has the verdict and the sums.';
comment on column rulings.ledger_step.by is 'The unit, card or marker that it comes from';
comment on column rulings.ledger_step.halves is
'Signed, in halves of what is counted, so that a half is whole: of an entry what it adds, of a sum what it comes to';
comment on column rulings.ledger_step.facts is
'Of the last row: the numbers and words of the answer by the names that the game gives them';
