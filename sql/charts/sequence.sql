-- The sequence of play: the phases of a game and their steps, in order.

create or replace function charts.sequence(ruleset text)
returns table (n integer, path text, depth integer, title text, who text, rule text)
language sql stable parallel safe
as $$
  select
    phase.n,
    phase.path,
    cardinality(string_to_array(phase.path, '/')) - 1,
    phase.title,
    phase.who,
    phase.rule
  from public.phase
  where phase.ruleset = sequence.ruleset
  order by phase.n
$$;

comment on function charts.sequence(text) is
'The phases of a game and their steps in order, with who acts and the rule; depth 0 is a phase of its own.';
