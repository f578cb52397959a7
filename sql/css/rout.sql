-- needs: css/status.sql, css/fire.sql, css/trace_path.sql
-- Results of fire in css (Guam): DG, losses, rout checks, hexes left vacant, weapons left over: 8.5, 9.6.3, 10.2, 12.2, 13.2, 19.2.

create or replace function css._with_head(position_id bigint, unit css.piece, kind text)
returns css.piece
language plpgsql stable
as $$
begin
  -- 13.2: of several leaders or heroes the one who helps most
  return (
    select head
    from css._pieces(_with_head.position_id, unit.q, unit.r, unit.inside) as head
    where head.kind = _with_head.kind
      and head.side = unit.side
      and css._belongs(unit, head)
    order by head.bonus_tq desc, head.code
    limit 1
  );
end
$$;

comment on function css._with_head(bigint, css.piece, text) is
'The leader, or the hero, with a unit who adds most to its Troop Quality.';

create or replace function css._zone_value(state positions.state, unit css.piece, read jsonb)
returns integer
language plpgsql stable
as $$
begin
  return (
    select
      coalesce(
        max((feature.attributes ->> (unit.attributes #>> '{zone,run}'))::integer),
        css._number(css._cell(read, 'naval_zone_values', max(feature.code), unit.attributes #>> '{zone,run}'))
      )
    from public.hex as beach
    left join public.map_feature_hex as place on place.map_id = beach.map_id and place.q = beach.q and place.r = beach.r
    left join public.map_feature as feature on feature.id = place.feature and feature.kind = 'beach'
    where beach.map_id = state.map_id
      and beach.label = unit.attributes #>> '{zone,beach}'
  );
end
$$;

comment on function css._zone_value(positions.state, css.piece, jsonb) is
'The Hard Target value of the naval zone in which a unit is; null is not told (22.3.1).';

create or replace function css._rout_entries(
  state positions.state, unit css.piece, footing css.footing, said jsonb
)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  -- 8.5.1 a to d; what is good for the defender is taken off the die
  select entry.*
  from (
    select
      css._piece_of(state.position_id, coalesce(said ->> 'defense_of', unit.code)) as lender,
      css._with_head(state.position_id, unit, 'leader') as leader,
      css._with_head(state.position_id, unit, 'hero') as hero,
      css._zone_value(state, unit, said -> 'read') as zone,
      unit.q is null and not coalesce((said ->> 'landing')::boolean, false) as at_sea,
      -- 3.2: nothing changes the Troop Quality of an HQ
      not (unit.kind = 'hq' and unit.own_quality is not null) as varies
  ) as who
  cross join lateral (
    values
    ('a', 'adds', 'stars of the result', null, - (said ->> 'stars')::integer, null, (said ->> 'stars')::integer > 0),
    ('b', 'adds', format('terrain: %s', replace(footing.terrain, '_', ' ')), null, footing.defense, null,
      not who.at_sea and not footing.inside and coalesce(footing.defense, 0) <> 0),
    ('b', 'unknown', 'terrain_effects_chart', null, null, null,
      not who.at_sea and not footing.inside and footing.defense is null),
    ('b', 'adds', 'inside a cave', null, css._number(css._cell(null, 'fortification_values', 'cave', 'defense')), null,
      footing.inside and not coalesce((said ->> 'flame')::boolean, false)),
    ('c', 'adds', format('%s is there', (who.leader).code), (who.leader).code, - (who.leader).bonus_tq, null,
      who.varies and coalesce((who.leader).bonus_tq, 0) <> 0),
    ('c', 'adds', format('%s is there', (who.hero).code), (who.hero).code, - (who.hero).bonus_tq, null,
      who.varies and coalesce((who.hero).bonus_tq, 0) <> 0),
    ('d', 'adds', format('Defense of %s', (who.lender).code), (who.lender).code, (who.lender).defense,
      case when said ? 'defense_of' then 'css-85' end, not who.at_sea and coalesce((who.lender).defense, 0) <> 0),
    ('d', 'adds', 'Hard Target value of the naval zone', null, who.zone, null, who.at_sea and who.zone <> 0),
    ('d', 'unknown', 'naval_zone_values', null, null, null, who.at_sea and who.zone is null)
  ) as part (clause, effect, note, by, value, point, holds)
  cross join lateral css._entry('8.5.1', part.clause, part.effect, part.note, part.by, 2 * part.value, part.point, footing.label) as entry
  where part.holds
  union all
  select work.rule, 'd', work.at, work.effect, work.note, work.point, work.by, work.halves, work.facts
  from unnest(css._work_entries(footing, '8.5.1', said -> 'read')) as work
  where unit.q is not null
  union all
  -- with the opposite sign: less Troop Quality is more on the die
  select '8.5.1', 'd', mark.at, mark.effect, mark.note, mark.point, mark.by, - mark.halves, mark.facts
  from css._status_quality_steps(footing, unit, said -> 'read', true) as mark
  where not (unit.kind = 'hq' and unit.own_quality is not null)
$$;

comment on function css._rout_entries(positions.state, css.piece, css.footing, jsonb) is
'What a rout check adds to its die (8.5.1 a to d; 3.2 for an HQ).';

create or replace function css._rout_footing(state positions.state, unit css.piece)
returns css.footing
language plpgsql stable
as $$
declare
  footing css.footing;
  beach public.hex;
begin
  if unit.q is not null then
    return css._footing(state.position_id, state.map_id, unit.q, unit.r, unit.inside);
  end if;
  -- at sea, or on the way ashore: beach terrain, and no marker of the beach (22.1)
  select hex.* into beach
  from public.hex
  where hex.map_id = state.map_id and hex.label = unit.attributes #>> '{zone,beach}';
  footing := css._footing(state.position_id, state.map_id, beach.q, beach.r, false);
  footing.dg := 0;
  footing.pinned := false;
  footing.suppressed := false;
  footing.works := '{}';
  footing.barrage := null;
  return footing;
end
$$;

comment on function css._rout_footing(positions.state, css.piece) is
'Where a unit checks: its place on the map, or the beach before which it is.';

create or replace function css.rout(
  position_id bigint, check_of jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  unit css.piece;
  footing css.footing;
  entries rulings.ledger_step[];
  modifier integer;
  quality integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  unit := css._piece_of(position_id, check_of ->> 'unit');
  unit.posture := coalesce(check_of ->> 'posture', unit.posture);
  footing := css._rout_footing(state, unit);
  entries := array(select step from css._rout_entries(state, unit, footing, check_of) as step)
  || array(
    select step from css._quality(state, unit, case when unit.q is not null then footing.terrain end, check_of -> 'read') as step
  );
  return query select * from unnest(entries);
  if not exists (select from unnest(entries) as step where step.effect = 'unknown') then
    modifier := coalesce((select sum(step.halves) / 2 from unnest(entries) as step where step.effect = 'adds'), 0);
  end if;
  quality := (
    select sum(step.halves) / 2 from unnest(entries) as step where step.effect = 'quality'
    having not bool_or(step.halves is null)
  );
  return next css._sum(
    '8.5.1', 'checks', format('%s checks', unit.code),
    jsonb_build_object(
      'modifier', modifier,
      'tq', quality,
      'side', unit.side,
      'hex', footing.label,
      'inside', footing.inside,
      'column', unit.posture = 'column',
      'at_sea', unit.q is null and not coalesce((check_of ->> 'landing')::boolean, false),
      'desperate', footing.desperate,
      'modifiers', css._modifiers(entries),
      -- 8.5.3: Army Units alone
      'tenacious', unit.side = 'japan' and unit.is_unit and not css._is_navy(state, unit) and unit.service is distinct from 'marine'
    ),
    footing.label
  );
end
$$;

comment on function css.rout(bigint, jsonb, jsonb, jsonb) is
'What a rout check comes to: an entry for all that is added to the die, the Troop Quality against which it is made, the verdict last (8.5.1).';

create or replace function css._modifiers(entries rulings.ledger_step[])
returns jsonb
language plpgsql immutable
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('rule', entry.rule, 'value', entry.halves / 2, 'note', entry.note)), '[]')
    from unnest(entries) as entry
    where entry.effect = 'adds'
  );
end
$$;

comment on function css._modifiers(rulings.ledger_step[]) is
'The entries of a ledger that count, as an answer tells them.';

create or replace function css.quality_check(
  position_id bigint, die integer, modifier integer, quality integer, extremes boolean, rule text
)
returns setof rulings.ledger_step
language sql immutable parallel safe rows 1
as $$
  select (css._sum(
    rule,
    case when verdict.passes then 'passes' when not verdict.passes then 'fails' else 'open' end,
    format('%s against %s', coalesce((die + modifier)::text, 'not told'), coalesce(quality::text, 'not told')),
    jsonb_build_object('total', die + modifier, 'passes', verdict.passes)
  )).*
  from (
    select
      case
        -- 8.5.1: a 0 always passes and a 9 always fails
        when extremes and die = 0 then true
        when extremes and die = 9 then false
        else die + modifier <= quality
      end as passes
  ) as verdict
$$;

comment on function css.quality_check(bigint, integer, integer, integer, boolean, text) is
'A die against a Troop Quality; with `extremes` a 0 always passes and a 9 always fails (2.0, 8.5.1).';

create or replace function css.rout_way(position_id bigint, unit text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  routed css.piece := css._piece_of(position_id, unit);
  head record;
  verdict text := 'closed';
  found_one rulings.path_step;
begin
  for head in
    select hq.code
    from public.unit as hq
    where hq.position_id = position_id
      and hq.kind = 'hq'
      and hq.side = routed.side
      and hq.q is not null
      and hq.code <> routed.code
      and coalesce(hq.attributes ->> 'division' = (routed.allegiance).division, true)
    order by hq.code
  loop
    select way.* into found_one
    -- 15.0: a truck flees with what it carries, where a truck can go
    from css.trace_path(
      position_id, coalesce(routed.attributes ->> 'loaded_in', unit), head.code, 'routed', null, conditions, policy
    ) as way
    where way.effect in ('open', 'closed', 'unknown') and way.path is not null
    order by way.effect = 'open' desc
    limit 1;
    verdict := case found_one.effect when 'open' then 'open' when 'unknown' then 'assumed' else verdict end;
    exit when verdict <> 'closed';
  end loop;
  return next css._sum(
    '8.5.1', verdict,
    case verdict
      when 'open' then format('a way to %s is open', head.code)
      when 'assumed' then format('what is not told is taken not to bar the way to %s', head.code)
      else 'no way to an HQ of its Division'
    end,
    jsonb_build_object('open', verdict <> 'closed'),
    routed.label
  );
end
$$;

comment on function css.rout_way(bigint, text, jsonb, jsonb) is
'Whether a routed unit has a way to some HQ of its Division (8.5.1).';

create or replace function css.disorganize(
  position_id bigint, hit jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  state positions.state;
  footing css.footing;
  units css.piece[];
  carriers constant text[] := css._texts(hit -> 'carriers');
  added constant integer := (hit ->> 'dg')::integer;
  was integer;
  leader text;
  over integer;
  turned boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  if cardinality(carriers) > 0 then
    units := css._pieces_of(position_id, carriers);
    was := (select max(unit.dg) from unnest(units) as unit);
  else
    select found.*
    into footing
    from public.hex
    cross join lateral css._footing(
      position_id, state.map_id, hex.q, hex.r, coalesce((hit ->> 'inside')::boolean, false)
    ) as found
    where hex.map_id = state.map_id and hex.label = hit ->> 'hex';
    units := array(
      select unit
      from css._pieces(position_id, footing.q, footing.r, footing.inside) as unit
      where unit.is_unit and unit.side = hit ->> 'side'
    );
    was := footing.dg;
  end if;
  turned := coalesce(footing.desperate, false) and hit ->> 'side' = 'japan';
  if turned then
    -- 9.6.3: DGs are losses, half of them, rounded up; a leader is lost first and rounds down, but not to indirect fire
    if not coalesce((hit ->> 'indirect')::boolean, false) then
      leader := (css._with_head(position_id, units[1], 'leader')).code;
    end if;
    over := case when leader is null then (added + 1) / 2 else added / 2 end;
  else
    -- 8.5: each over 4 eliminates a Unit
    over := greatest(was + added - 4, 0);
    if over > 0 then
      return next css._entry('8.5', null, 'eliminates', format('%s over DG4', over), null, null, null, hit ->> 'hex');
    end if;
  end if;
  return next css._sum(
    case when turned then '9.6.3' else '8.5' end,
    case when turned then 'losses' else 'disorganizes' end,
    case when turned then format('%s DG are turned into losses', added) else format('DG%s', least(was + added, 4)) end,
    jsonb_build_object(
      -- null: it stays as it is
      'dg', case when not turned then least(was + added, 4) end,
      'lost', least(over, cardinality(units)),
      'leader', leader,
      'units', to_jsonb(array(select unit.code from unnest(units) as unit))
    ),
    hit ->> 'hex'
  );
end
$$;

comment on function css.disorganize(bigint, jsonb, jsonb, jsonb) is
'What DGs do to a hex, to its cave or to units that carry their own: the new level, and how many units are lost (8.5, 9.6.3, 10.2.3).';

create or replace function css.vacated(position_id bigint, hex text, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  -- 8.5.1, 8.6, 10.0: what becomes of each marker when the last unit has gone; its kind is in the facts
  select (css._sum(
    lying.rule, case when read.goes then 'removed' else 'stays' end, format('a %s marker', replace(lying.kind, '_', ' ')),
    jsonb_build_object('kind', lying.kind, 'inside', lying.inside, 'points', to_jsonb(read.points)), vacated.hex
  )).*
  from (
    select
      marker.kind,
      coalesce((marker.attributes ->> 'in_cave')::boolean, false) as inside,
      case
        when marker.kind in ('concentrated_fire', 'no_opportunity_fire', 'sustained_fire') then '8.6'
        when marker.kind in ('foxhole', 'trench', 'pillbox') then '11.1'
        when marker.kind in ('drunk', 'hungover') then '29.1'
        else '8.5.1'
      end as rule,
      state.readings
    from positions.state(vacated.position_id, vacated.conditions, vacated.policy) as state
    inner join public.hex on hex.map_id = state.map_id and hex.label = vacated.hex
    inner join public.marker on marker.position_id = state.position_id and marker.q = hex.q and marker.r = hex.r
    where not exists (
      select
      from css._pieces(state.position_id, hex.q, hex.r, coalesce((marker.attributes ->> 'in_cave')::boolean, false)) as unit
      where unit.is_unit
    )
  ) as lying
  cross join lateral css._vacated_marker(lying.kind, lying.readings) as read
  order by lying.kind, lying.inside
$$;

comment on function css.vacated(bigint, text, jsonb, jsonb) is
'What becomes of the markers of a hex that its last unit has left, one row each: removed, or stays where a reading keeps it
(8.5.1, 8.6, 10.0, 11.1, 29.1, css-33, css-34, css-70).';

create or replace function css._vacated_marker(kind text, readings jsonb)
returns table (goes boolean, points text[])
language sql immutable rows 1
as $$
  select true, '{}'::text[]
  where kind in (
    'foxhole', 'trench', 'concentrated_fire', 'no_opportunity_fire', 'sustained_fire', 'ridge', 'drunk', 'hungover'
  )
  union all
  -- css-34: by Rally alone, or by this too
  select readings ->> 'css-34' = 'a', array['css-34']
  where kind in ('dg', 'pinned', 'suppressed')
  union all
  -- css-33: a Pillbox waits for an enemy
  select readings ->> 'css-70' = 'b' or readings ->> 'css-33' = 'a', array['css-33', 'css-70']
  where kind = 'pillbox'
  union all
  -- css-70: all Status Markers
  select readings ->> 'css-70' = 'b', array['css-70']
  where kind in (
    'bunker', 'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'prepared_assault', 'banzai_charge',
    'drunk_banzai_charge'
  )
$$;

comment on function css._vacated_marker(text, jsonb) is
'Whether a marker goes with the last unit of its hex, and the points on which that turns; nothing of markers that are no unit''s.';

create or replace function css.left_over(position_id bigint, hex text, inside boolean default false)
returns table (side text, spare integer, weapons text[], heads text[], units integer)
language sql stable rows 1
as $$
  -- 12.1: never more weapons than Units; 13.1, 14.0: nobody stays alone
  select
    piece.side,
    greatest(count(*) filter (where piece.kind = 'support_weapon') - count(*) filter (where piece.is_unit), 0)::integer,
    array_agg(piece.code order by piece.code) filter (where piece.kind = 'support_weapon'),
    array_agg(piece.code order by piece.code) filter (where piece.kind in ('leader', 'hero')),
    count(*) filter (where piece.is_unit)::integer
  from public.position
  inner join public.hex on hex.map_id = position.map_id and hex.label = left_over.hex
  cross join lateral css._pieces(position.id, hex.q, hex.r, left_over.inside) as piece
  where position.id = left_over.position_id
  group by piece.side
  order by piece.side
$$;

comment on function css.left_over(bigint, text, boolean) is
'Of each side in a hex: how many Support Weapons are more than its Units, which there are, and its leaders and heroes (12.1, 13.1).';

create or replace function css._command_of(position_id bigint, head text)
returns setof public.unit
language sql stable rows 10
as $$
  select unit.*
  from public.unit as leader
  inner join public.unit
    on unit.position_id = leader.position_id and unit.side = leader.side and css._is_unit(unit.kind)
    and unit.attributes ->> 'status' is distinct from 'eliminated'
  cross join lateral css._command_facts(unit.attributes, unit.kind) as hers
  cross join lateral css._command_facts(leader.attributes, leader.kind) as his
  where leader.position_id = _command_of.position_id
    and leader.code = _command_of.head
    and css._akin(hers, his) is not false
$$;

comment on function css._command_of(bigint, text) is
'The Units of a leader''s or hero''s command that are still in the game, wherever they are (13.1, 14.0).';

create or replace function css.refuges(
  position_id bigint, head text, traced boolean, conditions jsonb default null, policy jsonb default null
)
returns table (label text)
language sql stable rows 3
as $$
  -- 13.1: an American leader has a way there; a hero and a Japanese replacement are just placed (14.0)
  select hex.label
  from css._command_of(position_id, head) as unit
  inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  where not refuges.traced
    or exists (
      select
      from css.trace_path(position_id, head, hex.label, 'leader', null, conditions, policy) as way
      where way.effect in ('open', 'unknown') and way.path is not null
    )
  group by hex.label
  order by hex.label
$$;

comment on function css.refuges(bigint, text, boolean, jsonb, jsonb) is
'Hexes with Units of his command to which a leader or hero goes who is left alone (13.1, 14.0).';

create or replace function css.return(
  position_id bigint, unit text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  routed css.piece := css._piece_of(position_id, unit);
  place record;
  bars rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  select found_one.q, found_one.r, hex.label into place
  from positions.place(position_id, "to") as found_one
  inner join public.hex on hex.map_id = state.map_id and hex.q = found_one.q and hex.r = found_one.r;
  bars := css._actor_bars(state, array[routed])
  || array(
    select css._entry(bar.rule, null, 'forbids', bar.note, routed.code, null, null, place.label)
    from (
      values
      ('8.5.2', routed.attributes ->> 'box' is distinct from 'routed', 'it is not in the Routed Units box'),
      (
        '8.5.2',
        not exists (
          select
          from public.unit as head
          where head.position_id = position_id
            and head.side = routed.side
            and head.q is not null
            and head.attributes ->> 'division' = (routed.allegiance).division
            -- the Division HQ has no Formation; HQs come back to the Division Leader
            and head.kind = case routed.kind when 'hq' then 'leader' else 'hq' end
            and head.attributes ->> 'formation' is null
            and lattice.distance(head.q, head.r, place.q, place.r) <= 1
        ),
        case routed.kind
          when 'hq' then 'the Division Leader is neither there nor beside it'
          else 'the Division HQ is neither there nor beside it'
        end
      ),
      (
        '8.5.2',
        exists (
          select
          from css.side_zone(position_id, case routed.side when 'us' then 'japan' else 'us' end, conditions, policy) as zone
          where zone.label = place.label
        ),
        'the hex is in an enemy Fire Zone'
      )
    ) as bar (rule, holds, note)
    where bar.holds
  );
  return query select * from unnest(bars);
  return next css._sum(
    coalesce(bars[1].rule, '8.5.2'), case when cardinality(bars) > 0 then 'refused' else 'returns' end,
    coalesce(bars[1].note, format('%s comes back', routed.code)),
    jsonb_build_object(
      'allowed', cardinality(bars) = 0, 'hex', place.label, 'cost', css._cost(state.conditions, array[routed])
    ),
    place.label
  );
end
$$;

comment on function css.return(bigint, text, text, jsonb, jsonb) is
'Whether a routed unit may come back to a hex (8.5.2).';
