-- needs: rulings/step.sql
-- What hides hexes from a viewer: the steps of many lines of sight, each told once with how often it spoke.

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
  where line.effect in ('blocks', 'unknown', 'assumed') or line.point is not null
  group by line.rule, line.clause, line.at, line.effect, line.point
  order by count(*) desc, line.rule, line.clause, line.at, line.effect, line.point
$$;

comment on function rulings._fan_reasons(rulings.sight_step[], text) is
'What stops, leaves open or decides lines of sight: every rule with its place, and on how many lines it bears.';
