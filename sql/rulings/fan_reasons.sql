-- needs: rulings/step.sql
-- What hides hexes from a viewer: the steps of many lines of sight, each told once with how often it spoke.

create or replace function rulings._bears_on_fan(effect text, point text)
returns boolean
language sql immutable parallel safe
return effect in ('blocks', 'unknown', 'assumed') or point is not null;

comment on function rulings._bears_on_fan(text, text) is
'Whether a step of a line of sight belongs among the reasons of a fan: it stops the line, leaves it open, or is contested.';

create or replace function rulings._fan_reasons(lines rulings.sight_step[], hidden text default 'hidden')
returns setof rulings.step
language sql immutable parallel safe rows 50
as $$
  select
    line.rule,
    line.clause,
    line.at,
    case line.effect when 'blocks' then 'hides' else line.effect end,
    case
      when line.effect = 'blocks' then format(case count(*) when 1 then '%s hex %s' else '%s hexes %s' end, count(*), hidden)
      else format(case count(*) when 1 then '%s line' else '%s lines' end, count(*))
    end,
    line.point
  from unnest(lines) as line
  group by line.rule, line.clause, line.at, line.effect, line.point
  order by count(*) desc, line.rule, line.clause, line.at, line.effect, line.point
$$;

comment on function rulings._fan_reasons(rulings.sight_step[], text) is
'The steps that bear on a fan, of all its lines: every rule with its place, and on how many lines it bears.';
