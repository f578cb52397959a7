-- needs: rulings/step.sql
-- Fortifications of Bloody Nose Ridge in ddp (D-Day at Peleliu): 19.4.

create or replace function ddp._turned(sides integer[], turn integer)
returns integer[]
language plpgsql immutable parallel safe
as $$
begin
  return array(select (side - 1 + turn + 6) % 6 + 1 from unnest(sides) as side
  order by 1);
end
$$;

comment on function ddp._turned(integer[], integer) is
'Sides of a hex, turned by sixths clockwise.';

create or replace function ddp.fortification_turns(old integer[], new integer[])
returns setof rulings.ledger_step
language sql immutable rows 2
as $$
  select
    '19.4',
    null,
    null,
    'within',
    format('turned by %s it blocks %s', turn.n, array_to_string(ddp._turned(new, turn.n), ', ')),
    null,
    null,
    null::integer,
    null::jsonb
  from unnest(array[0, 1, -1, 2, -2, 3]) with ordinality as turn (n, place)
  where cardinality(new) < cardinality(old) and ddp._turned(new, turn.n) <@ old
  union all
  select
    '19.4',
    null,
    null,
    case when told.turns is null then 'not reduced' else 'reduced' end,
    case
      when cardinality(new) >= cardinality(old)
        then format('it blocks %s sides, no fewer than %s', cardinality(new), cardinality(old))
      when told.turns is null then 'turned in no way do its sides lie on those of the old marker'
      else format('it blocks %s sides, fewer than %s', cardinality(new), cardinality(old))
    end,
    null,
    null,
    null,
    jsonb_build_object('turns', coalesce(told.turns, '[]'))
  from (
    select jsonb_agg(turn.n order by turn.place) as turns
    from unnest(array[0, 1, -1, 2, -2, 3]) with ordinality as turn (n, place)
    where cardinality(new) < cardinality(old) and ddp._turned(new, turn.n) <@ old
  ) as told
$$;

comment on function ddp.fortification_turns(integer[], integer[]) is
'How a drawn fortification marker may be turned to take the place of one with more blocked sides (19.4); none where it does not.';
