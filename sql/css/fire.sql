-- needs: css/status.sql, css/los.sql, css/points.sql, css/arrivals.sql, lattice/ray.sql
-- Direct fire in css (Guam): 6.2.2, 6.3, 7.2, 8.1 to 8.4, 8.6, 8.8, 9.4, 12.3 to 12.5, 17.0, 22.3.1.
--
-- `css.fire` tells whether a shot may be fired and what its value comes to, an entry for every modifier;
-- `css.fire_result` tells what the die makes of it. A shot is one object, as a procedure asks for it:
-- by, with, at, target, zone, as, concentrated, target_unit, impose, manner (fire or op_fire), charge (the assault
-- marker against which Opportunity Fire is made), alerted, landing (the units that come ashore), read.

drop type if exists css.shot cascade;
create type css.shot as (
  state positions.state,
  said jsonb,
  firer css.piece,
  others css.piece array,
  helpers css.piece array,
  weapon css.piece,
  leader css.piece,
  hero css.piece,
  here css.footing,
  there css.footing,
  targets css.piece array,
  named css.piece,
  target_unit css.piece,
  imposed css.piece array,
  at_sea text,
  flame boolean
);

comment on type css.shot is
'A shot: who fires with whose help, at whom, and where both stand.';
comment on column css.shot.helpers is 'Weapons, leaders and heroes that are named to help';
comment on column css.shot.there is 'The hex or cave fired at; of a naval zone its beach hex';
comment on column css.shot.targets is 'All enemy counters there, or those of the naval zone that are one target';
comment on column css.shot.named is 'The Hard Target that is fired at by itself';
comment on column css.shot.target_unit is 'Whose Defense is used; null until somebody has chosen';
comment on column css.shot.imposed is 'Weapons, leaders and heroes of the target whose Defense is added (8.3.1)';
comment on column css.shot.at_sea is 'The run of a naval zone that is fired at';
comment on column css.shot.flame is 'Whether a Flamethrower takes part (8.8)';

create or replace function css._texts(list jsonb)
returns text[]
language plpgsql immutable
as $$
begin
  return array(select jsonb_array_elements_text(case when jsonb_typeof(list) = 'array' then list else '[]' end));
end
$$;

comment on function css._texts(jsonb) is
'A list of words as an array; nothing where there is none.';

create or replace function css._at_sea(shot css.shot)
returns css.piece[]
language plpgsql stable
as $$
begin
  -- 22.3.1, css-30: what of a naval zone is one target
  return (
    select coalesce(array_agg(css._piece(unit, null) order by unit.code), '{}')
    from public.unit
    where unit.position_id = (shot.state).position_id
      and unit.side <> (shot.firer).side
      and unit.attributes #>> '{zone,beach}' = (shot.there).label
      and unit.attributes #>> '{zone,run}' = shot.at_sea
      and css._is_unit(unit.kind)
      and case
        when (shot.named).code is not null then unit.code = (shot.named).code
        when (shot.state).readings ->> 'css-30' = 'c' then not coalesce((unit.attributes ->> 'amphibious')::boolean, false)
        else true
      end
  );
end
$$;

comment on function css._at_sea(css.shot) is
'The units of a naval zone that are fired at as one: all, or all but amphibious tanks, or the one that is named (css-30).';

create or replace function css._aim(shot css.shot)
returns css.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  said constant jsonb := shot.said;
  place record;
  inside boolean := false;
  map_id constant bigint := (shot.state).map_id;
  position_id constant bigint := (shot.state).position_id;
begin
  if said ? 'target' then
    shot.named := css._piece_of(position_id, said ->> 'target');
  end if;
  shot.at_sea := coalesce(said #>> '{zone,run}', (shot.named).attributes #>> '{zone,run}');
  if said ? 'landing' then
    shot.at_sea := null;
  end if;
  select hex.q, hex.r into place
  from public.hex
  where hex.map_id = map_id
    and hex.label = coalesce(
      -- a beach by its name, or by its hex
      (select beach.label from css._beach(map_id, said #>> '{zone,beach}') as beach limit 1),
      said #>> '{zone,beach}', (shot.named).label, (shot.named).attributes #>> '{zone,beach}', said ->> 'at'
    );
  if not found then
    select found_one.q, found_one.r, found_one.attributes into place
    from positions.place(position_id, said ->> 'at') as found_one;
    inside := coalesce((place.attributes ->> 'in_cave')::boolean, false);
  end if;
  if (shot.named).code is not null then
    inside := (shot.named).inside;
  elsif (place.q, place.r) = ((shot.firer).q, (shot.firer).r) then
    -- 6.3: in one hex the fire goes through the mouth of the cave
    inside := not (shot.firer).inside;
  end if;
  shot.there := css._footing(position_id, map_id, place.q, place.r, inside);
  if said ? 'landing' then
    shot.targets := css._pieces_of(position_id, css._texts(said -> 'landing'));
  elsif shot.at_sea is not null then
    shot.targets := css._at_sea(shot);
  else
    shot.targets := array(
      select piece
      from css._pieces(position_id, place.q, place.r, inside) as piece
      where piece.side <> (shot.firer).side
    );
  end if;
  return shot;
end
$$;

comment on function css._aim(css.shot) is
'A shot with the place that it goes to, and who is there.';

create or replace function css._shot(
  position_id bigint, said jsonb, conditions jsonb, policy jsonb
)
returns css.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shot css.shot;
  piece css.piece;
  firer css.piece;
begin
  select * into state from positions.state(position_id, conditions, policy);
  shot.state := state;
  shot.said := said;
  shot.firer := css._piece_of(position_id, said -> 'by' ->> 0);
  firer := shot.firer;
  shot.others := css._pieces_of(position_id, (css._texts(said -> 'by'))[2:]);
  shot.helpers := css._pieces_of(position_id, css._texts(said -> 'with'));
  foreach piece in array shot.helpers loop
    case piece.kind
      when 'support_weapon' then shot.weapon := piece;
      when 'leader' then shot.leader := piece;
      when 'hero' then shot.hero := piece;
      else null;
    end case;
  end loop;
  shot.here := css._footing(position_id, (shot.state).map_id, firer.q, firer.r, firer.inside);
  shot := css._aim(shot);
  shot.imposed := css._pieces_of(position_id, css._texts(said -> 'impose'));
  shot.flame := firer.flame or coalesce((shot.weapon).flame, false)
  or exists (select from unnest(shot.others) as other where other.flame);
  if (shot.named).code is not null then
    shot.target_unit := shot.named;
  elsif said ? 'target_unit' then
    shot.target_unit := css._piece_of(position_id, said ->> 'target_unit');
  end if;
  return shot;
end
$$;

comment on function css._shot(bigint, jsonb, jsonb, jsonb) is
'A shot as it is asked for, with all counters and hexes that it touches.';

create or replace function css._firer_bars(shot css.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- who may fire at all
  select entry.*
  from (
    select
      shot.said ->> 'manner' = 'op_fire' as reacts,
      coalesce((shot.state).conditions -> 'fired' ? (shot.here).label, false) as has_fired,
      (shot.state).readings ->> 'css-18' as reading
  ) as now
  cross join lateral (
    values
    ('8.2', (shot.firer).q is null, 'it is not on the map', null),
    ('2.0', not (shot.firer).is_unit, 'it is a Marker; a Unit fires', null),
    ('8.1', (shot.firer).fire is null, 'its counter shows no Fire Power', null),
    ('8.7', (shot.firer).fire_type = 'indirect', 'it fires indirectly', null),
    ('10.2.1', (shot.here).suppressed or (shot.firer).suppressed, 'it is Suppressed', null),
    ('8.3.6', (shot.here).concentrated and now.reacts, 'its hex has used Concentrated Fire', null),
    (
      '8.2', now.has_fired and not now.reacts and (now.reading = 'b' or (shot.state).conditions ->> 'action' <> 'second'),
      'its hex has fired in this Activation', 'css-18'
    ),
    ('8.6', now.reacts and coalesce(css._is_active((shot.state).conditions, shot.firer), false), 'it is Active', null),
    (
      '8.6',
      now.reacts and (shot.here).spent and not coalesce((shot.said ->> 'alerted')::boolean, false),
      'its hex has a No Opportunity Fire marker', null
    ),
    ('8.3.6', now.reacts and coalesce((shot.said ->> 'concentrated')::boolean, false),
      'Opportunity Fire is never concentrated', null),
    (
      '8.3.6', not now.reacts and coalesce((shot.said ->> 'concentrated')::boolean, false)
      and (shot.firer).posture = 'column',
      'in Column fire is not concentrated', null
    )
  ) as bar (rule, holds, note, point)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, (shot.firer).code, null, bar.point, (shot.here).label) as entry
  where bar.holds
  union all
  select entry.*
  from css._entry(
    '8.2', null, 'passes', 'its hex fires once in each Action', (shot.firer).code, null, 'css-18', (shot.here).label
  ) as entry
  where shot.said ->> 'manner' <> 'op_fire'
    and coalesce((shot.state).conditions -> 'fired' ? (shot.here).label, false)
    and (shot.state).conditions ->> 'action' = 'second'
    and (shot.state).readings ->> 'css-18' = 'a'
  union all
  select bar.*
  from css._actor_bars(shot.state, shot.firer || shot.others) as bar
  where shot.said ->> 'manner' <> 'op_fire'
$$;

comment on function css._firer_bars(css.shot) is
'What keeps a unit from firing: its counter, its markers, what its hex has done (5.1, 8.2, 8.6, 10.2.1).';

create or replace function css._helper_bars(shot css.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 8.3.4: others of the hex
  select entry.*
  from unnest(shot.others) as other
  cross join lateral (
    values
    ((other.q, other.r, other.inside) is distinct from ((shot.firer).q, (shot.firer).r, (shot.firer).inside),
      format('%s is not with the firer', other.code)),
    (not other.is_unit, format('%s is no Unit', other.code)),
    ((shot.firer).posture = 'column', 'a firer in Column is helped by nobody'),
    (other.posture = 'column', format('%s is in Column', other.code)),
    (other.fire_type = 'indirect' or other.fire is null, format('%s does not fire directly', other.code)),
    (other.range < (shot.firer).range, format('the range of %s is shorter than the firer''s', other.code))
  ) as bar (holds, note)
  cross join lateral css._entry('8.3.4', null, 'forbids', bar.note, other.code, null, null, (shot.here).label) as entry
  where bar.holds
  union all
  select entry.*
  from css._entry('8.3.4', null, 'forbids', 'at most two other Units help', (shot.firer).code) as entry
  where cardinality(shot.others) > 2
  union all
  -- 8.3.2: one of each, of the firer's Formation
  select entry.*
  from unnest(shot.helpers) as helper
  cross join lateral (
    values
    ('8.3.2', helper.kind not in ('support_weapon', 'leader', 'hero'),
      format('%s is no weapon, leader or hero', helper.code)),
    ('8.3.2', (helper.q, helper.r, helper.inside) is distinct from ((shot.firer).q, (shot.firer).r, (shot.firer).inside)
      and not css._serves_anywhere(helper),
      format('%s is not with the firer', helper.code)),
    ('8.3.2', not css._belongs(shot.firer, helper) and not css._serves_anywhere(helper),
      format('%s is of another Formation', helper.code)),
    ('14.1', helper.attributes ->> 'status' = 'eliminated', format('%s is out of the game', helper.code)),
    ('12.3', helper.kind = 'support_weapon' and (shot.firer).posture = 'column' and not helper.tank,
      format('in Column nobody uses %s', helper.code)),
    ('8.3.2', helper.kind = 'support_weapon' and helper.fire is not null and helper.range < (shot.firer).range,
      format('the range of %s is shorter than the firer''s', helper.code))
  ) as bar (rule, holds, note)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, helper.code, null, null, (shot.here).label) as entry
  where bar.holds
  union all
  select (css._entry(
    case helper.kind when 'hero' then '14.0' else '8.3.2' end, null, 'forbids',
    format('one %s helps, not more', replace(helper.kind, '_', ' ')), (shot.firer).code
  )).*
  from unnest(shot.helpers) as helper
  where helper.kind in ('support_weapon', 'leader', 'hero')
  group by helper.kind
  having count(*) > 1
$$;

comment on function css._helper_bars(css.shot) is
'What keeps others, weapons, leaders and heroes from helping a shot (8.3.2, 8.3.4, 12.3, 14.0).';

create or replace function css._target_bars(shot css.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.*
  from (
    select
      count(*) filter (where target.is_unit) as units,
      count(*) filter (where target.is_unit and not target.hard) as soft,
      bool_or(
        target.is_unit and coalesce((target.attributes ->> 'hidden')::boolean, false) and target.posture = 'deployed'
      ) as hides
    from unnest(shot.targets) as target
  ) as counted
  cross join lateral (
    select exists (
      select
      from css._pieces((shot.state).position_id, (shot.there).q, (shot.there).r, true) as cave
      where cave.side <> (shot.firer).side and cave.is_unit and not (shot.there).inside
    ) as in_cave
  ) as below
  cross join lateral (
    values
    ('6.3', counted.units = 0 and below.in_cave and shot.at_sea is null,
      'who is inside a cave is fired at from its own hex only', null, null),
    ('8.2', counted.units = 0 and not below.in_cave, 'there is no enemy Unit', null, null),
    ('6.3', (shot.there).inside and ((shot.firer).q, (shot.firer).r) is distinct from ((shot.there).q, (shot.there).r),
      'who is inside a cave is fired at from its own hex only', null, (shot.named).code),
    ('6.2.1', counted.hides and counted.units = 1 and (shot.there).terrain = 'mangrove_swamp',
      'the unit there hides in the mangrove', null, null),
    ('8.2', (shot.named).code is null and counted.units > 0 and counted.soft = 0 and shot.at_sea is null,
      'only Hard Targets are there: one is to be named', null, null),
    ('12.4.1', (shot.named).kind = 'support_weapon', 'a Support Weapon is not fired at by itself', null, (shot.named).code),
    ('8.2', (shot.named).is_unit and not (shot.named).hard and shot.at_sea is null,
      'only a Hard Target is fired at by itself', null, (shot.named).code),
    ('8.2', (shot.named).side = (shot.firer).side, 'it is a friend', null, (shot.named).code),
    ('22.3.1', shot.at_sea = 'transport', 'nobody fires into a Transport Zone', null, null),
    ('22.1', shot.at_sea is not null and (shot.state).readings ->> 'css-30' = 'a' and (shot.named).code is null
      and counted.units > 1, 'each Unit at sea is a target of its own: one is to be named', 'css-30', null)
  ) as bar (rule, holds, note, point, by)
  cross join lateral css._entry(bar.rule, null, 'forbids', bar.note, bar.by, null, bar.point, (shot.there).label) as entry
  where bar.holds
  union all
  select entry.*
  from css._entry(
    '22.3.1', null, 'target', 'what of a Naval Zone is one target', null, null, 'css-30', (shot.there).label
  ) as entry
  where shot.at_sea is not null
$$;

comment on function css._target_bars(css.shot) is
'What keeps a hex, a unit or a naval zone from being fired at (6.2.1, 6.3, 8.2, 12.4.1, 22.3.1).';

create or replace function css._zone_bars(shot css.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
declare
  state constant positions.state := shot.state;
  firer constant css.piece := shot.firer;
  armed css.armed;
  away integer;
  step record;
begin
  select * into armed from css._armed(state.position_id, null, firer.code, '{}', state.readings);
  away := lattice.distance(firer.q, firer.r, (shot.there).q, (shot.there).r)
  + case when shot.at_sea is null then 0 else css._naval_hexes(shot.at_sea) end;
  if armed.ready is null then
    return next css._entry('8.1', null, 'unknown', 'counters', firer.code);
  elsif away = 0 then
    return;
  elsif away > armed.ready then
    return next css._entry(
      case when armed.barraged or armed.beset_by is not null then '7.2' else '8.1' end,
      null, 'forbids',
      format('%s is %s away, and it fires %s', (shot.there).label, css._hexes(away), css._hexes(armed.ready)),
      firer.code, null, null, (shot.there).label
    );
  elsif (away > 1 or firer.inside) and not (shot.at_sea is not null and state.readings ->> 'css-64' = 'b') then
    for step in
      select los.*
      from css.los(
        state.position_id, 'unit:' || firer.code, 'hex:' || (shot.there).label, state.conditions, state.readings
      ) as los
      where los.point is not null or los.effect in ('visible', 'blocked', 'unknown')
    loop
      return next css._entry(
        step.rule, step.clause,
        case step.effect when 'blocked' then 'forbids' else step.effect end,
        case step.effect when 'blocked' then 'it is not seen' else step.note end,
        firer.code, null, step.point, step.at
      );
    end loop;
  end if;
end
$$;

comment on function css._zone_bars(css.shot) is
'Whether the target is in the Fire Zone of the firer: within range, and seen (7.2, 8.1, 22.3.1).';

create or replace function css._crossed(shot css.shot, to_target boolean)
returns text[]
language plpgsql stable
as $$
begin
  -- the sides of the target hex, or of the firer's, that the line of fire crosses
  return (
    select coalesce(array_agg(distinct hexside.kind), '{}')
    from public.hexside
    inner join lattice.ray
      on ray.dq = (shot.there).q - (shot.firer).q and ray.dr = (shot.there).r - (shot.firer).r
    where hexside.map_id = (shot.state).map_id
      and hexside.kind in ('ridge', 'steep_slope')
      and hexside.x between 2 * (case when to_target then (shot.there).q else (shot.firer).q end) - 2
      and 2 * (case when to_target then (shot.there).q else (shot.firer).q end) + 2
      and hexside.y between 2 * (case when to_target then (shot.there).r else (shot.firer).r end) - 2
      and 2 * (case when to_target then (shot.there).r else (shot.firer).r end) + 2
      and (case when to_target then ray.arriving else ray.leaving end)
      & lattice.side_set(hexside.x - 2 * (shot.firer).q, hexside.y - 2 * (shot.firer).r) <> b'0'::bit(1089)
      and (
        hexside.kind <> 'steep_slope'
        -- 6.2.2: up the slope: the target lies above the hex across it
        or exists (
          select
          from lattice.side_hexes(hexside.x, hexside.y) as beside
          inner join public.hex as below
            on below.map_id = hexside.map_id
              and (below.q, below.r) in ((beside.q1, beside.r1), (beside.q2, beside.r2))
              and (below.q, below.r) <> ((shot.there).q, (shot.there).r)
          where below.level < (shot.there).level
        )
      )
  );
end
$$;

comment on function css._crossed(css.shot, boolean) is
'Ridges, and steep slopes that rise to the target, over which a shot arrives there, or leaves its own hex.';

create or replace function css._sea_entries(shot css.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 22.3.1: at sea the value of the zone, and nothing of the Units
  select entry.*
  from (
    select
      max(feature.code) as code,
      coalesce(
        max((feature.attributes ->> shot.at_sea)::integer),
        css._number(css._cell(shot.said -> 'read', 'naval_zone_values', coalesce(max(feature.code), (shot.there).label), shot.at_sea))
      ) as value
    from public.map_feature as feature
    inner join public.map_feature_hex as beach on beach.feature = feature.id
    where feature.map_id = (shot.state).map_id
      and feature.kind = 'beach'
      and (beach.q, beach.r) = ((shot.there).q, (shot.there).r)
  ) as zone
  cross join lateral css._entry(
    '22.3.1', null, case when zone.value is null then 'unknown' else 'adds' end,
    case when zone.value is null then 'naval_zone_values' else 'Hard Target value of the naval zone' end,
    zone.code, 2 * zone.value, null, (shot.there).label
  ) as entry
  where zone.value is distinct from 0
$$;

comment on function css._sea_entries(css.shot) is
'The entry of a shot into a naval zone for its Hard Target value (22.3.1).';

create or replace function css._defense_entries(shot css.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  piece css.piece;
begin
  if shot.at_sea is not null then
    return query select * from css._sea_entries(shot);
    return;
  end if;
  -- 8.3.1 a: the Defense of the target
  if coalesce((shot.target_unit).defense, 0) <> 0 then
    return next css._entry(
      '8.3.1', null, 'adds', format('Defense of %s', (shot.target_unit).code), (shot.target_unit).code,
      2 * (shot.target_unit).defense, null, (shot.there).label
    );
  end if;
  foreach piece in array shot.imposed loop
    if coalesce(piece.defense, 0) <> 0 then
      return next css._entry(
        '8.3.1', null, 'adds', format('Defense of %s', piece.code), piece.code, 2 * piece.defense,
        case when piece.kind = 'support_weapon' then 'css-19' end, (shot.there).label
      );
    end if;
  end loop;
end
$$;

comment on function css._defense_entries(css.shot) is
'Entries of a shot for the Defense of its target: of the target unit and what goes with it, or of the naval zone (8.3.1, 22.3.1).';

create or replace function css._help_entries(shot css.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
declare
  piece css.piece;
  value integer;
begin
  -- 8.3.2: one weapon, one leader, one hero
  foreach piece in array shot.helpers loop
    value := case when piece.kind = 'support_weapon' then coalesce(piece.fire, 0) else piece.bonus_fire end;
    if value <> 0 then
      return next css._entry(
        '8.3.2', null, 'adds', format('%s helps', piece.code), piece.code, 2 * value, null, (shot.here).label
      );
    end if;
  end loop;
  -- 8.3.4
  foreach piece in array shot.others loop
    return next css._entry(
      '8.3.4', null, 'adds', format('%s adds to the fire', piece.code), piece.code, 2, null, (shot.here).label
    );
  end loop;
  -- 8.3.6
  if (shot.said ->> 'concentrated')::boolean then
    return next css._entry('8.3.6', null, 'adds', 'Concentrated Fire', (shot.firer).code, 2, null, (shot.here).label);
  end if;
  -- 12.5
  if (shot.said ->> 'alerted')::boolean then
    return next css._entry('12.5', null, 'adds', 'alert dogs', (shot.firer).code, 4, null, (shot.here).label);
  end if;
end
$$;

comment on function css._help_entries(css.shot) is
'Entries of a shot for those who help: weapon, leader, hero, other units, Concentrated Fire, alert dogs (8.3.2, 8.3.4, 8.3.6, 12.5).';

create or replace function css._fire_status_entries(
  state positions.state, here css.footing, firer css.piece, read jsonb, barrage_counts boolean
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 8.3.3, 8.5.4: what lies on the firer
  select entry.*
  from (
    select found_one.marker, css._cell(null, 'status_marker_summary', found_one.marker, 'fire') as value
    from (
      values (css._dg_row(greatest(here.dg, firer.dg))), (case when here.pinned or firer.pinned then 'pinned' end)
    ) as found_one (marker)
    where found_one.marker is not null
  ) as status
  cross join lateral css._entry(
    '8.3.3', null, 'adds', format('the firer is %s', upper(status.marker)), status.marker,
    2 * css._number(status.value), null, here.label
  ) as entry
  union all
  select entry.*
  from (select css._cell(read, 'barrage_marker_effects', here.barrage, 'fire') as value) as mark
  cross join lateral css._entry(
    '8.3.3', null,
    case when mark.value is null and barrage_counts then 'unknown' when barrage_counts then 'adds' else 'passes' end,
    case
      when mark.value is null and barrage_counts then 'barrage_marker_effects'
      when barrage_counts then format('a %s on the firer', replace(here.barrage, '_', ' '))
      else 'the barrage of this assault does not count in it'
    end,
    here.barrage,
    case when barrage_counts then 2 * css._number(mark.value) end,
    null, here.label
  ) as entry
  where here.barrage is not null
    and not (barrage_counts and css._number(mark.value) is not distinct from 0)
$$;

comment on function css._fire_status_entries(positions.state, css.footing, css.piece, jsonb, boolean) is
'Entries of a shot for the markers on the firer: DG, Pinned, a Barrage (8.3.3, 8.5.4, 8.7.4 a, b).';

create or replace function css._work_entries(there css.footing, rule text, read jsonb)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.*
  from (
    select fort.kind, css._cell(read, 'fortification_values', fort.kind, 'defense') as value
    from unnest(there.works) as fort (kind)
  ) as work
  cross join lateral css._entry(
    rule, null,
    case when work.value is null then 'unknown' else 'adds' end,
    case when work.value is null then 'fortification_values' else format('a %s', work.kind) end,
    work.kind, 2 * css._number(work.value), null, there.label
  ) as entry
$$;

comment on function css._work_entries(css.footing, text, jsonb) is
'Entries for the Fortifications of a hex: their Defense (8.3.3, 8.7.4 f, 9.5, 11.1).';

create or replace function css._ground_entries(shot css.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
declare
  there constant css.footing := shot.there;
  arriving constant text[] := css._crossed(shot, true);
  ridge constant boolean := 'ridge' = any(arriving);
  -- 6.2.2: from under the marker over a ridge, its own or the target's
  from_marker constant boolean := (shot.here).ridge and 'ridge' = any(arriving || css._crossed(shot, false));
begin
  if not there.inside and there.defense is null then
    return next css._entry('8.3.5', null, 'unknown', 'terrain_effects_chart', null, null, null, there.label);
  elsif not there.inside and there.defense <> 0 then
    return next css._entry(
      '8.3.5', null, 'adds', format('terrain: %s', replace(there.terrain, '_', ' ')), null, 2 * there.defense, null, there.label
    );
  elsif there.inside and shot.flame then
    return next css._entry('6.3', null, 'passes', 'a Flamethrower reaches into the cave', null, null, null, there.label);
  elsif there.inside then
    return next css._entry(
      '6.3', null, 'adds', 'inside a cave', null,
      2 * css._number(css._cell(null, 'fortification_values', 'cave', 'defense')), null, there.label
    );
  end if;
  if 'steep_slope' = any(arriving) then
    return next css._entry('6.2.2', null, 'adds', 'up a steep slope', null, -4, null, there.label);
  end if;
  if ridge and not from_marker then
    return next css._entry('6.2.2', null, 'adds', 'across a ridge', null, -2, null, there.label);
  end if;
  if from_marker then
    return next css._entry(
      '6.2.2', null, 'adds', 'from under a Ridge marker across a ridge', null,
      case (shot.firer).side when 'japan' then 4 else 2 end, null, there.label
    );
  end if;
  if there.ridge and ridge then
    return next css._entry('6.2.2', null, 'adds', 'the Ridge marker faces the fire', null, -2, null, there.label);
  elsif there.ridge then
    return next css._entry('6.2.2', null, 'adds', 'the Ridge marker is flanked', null, 4, null, there.label);
  end if;
end
$$;

comment on function css._ground_entries(css.shot) is
'Entries of a shot for ground and hexsides of the target: terrain, cave, slope, ridge and Ridge markers (6.2.2, 6.3, 8.3.5).';

create or replace function css._is_navy(state positions.state, piece css.piece)
returns boolean
language plpgsql stable
as $$
begin
  return coalesce(
    piece.service,
    (
      select position.tracks #>> array['divisions', (piece.allegiance).division, 'service']
      from public.position where position.id = state.position_id
    ),
    lower((piece.allegiance).division),
    ''
  ) = 'navy';
end
$$;

comment on function css._is_navy(positions.state, css.piece) is
'Whether a Japanese Unit is of the Navy: by its counter, its Division''s service, or the Division''s name.';

create or replace function css._weather_entries(state positions.state, firer css.piece, there css.footing)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select entry.*
  from css._entry(
    '8.3.7', null, 'adds', 'rain', null,
    2 * css._number(css._cell(null, 'weather_effects', 'rain', 'fire'))
  ) as entry
  where state.conditions ->> 'weather' = 'rain'
  union all
  select entry.*
  from (
    select
      firer.side = 'japan' and css._is_navy(state, firer) as navy,
      case
        when firer.side = 'us' then 'us_fire'
        -- css-10
        when css._is_navy(state, firer) and state.readings ->> 'css-10' = 'b' then 'japanese_navy_fire'
        else 'japanese_army_fire'
      end as whose
  ) as who
  cross join lateral css._entry(
    case when who.navy then '17.0' else '8.3.7' end, null, 'adds', 'night', null,
    2 * css._number(css._cell(null, 'night_rules', who.whose, 'value')),
    case when who.navy then 'css-10' end
  ) as entry
  -- 8.7.3: into light it is day
  where css._is_night(state.conditions) and not there.lit
$$;

comment on function css._weather_entries(positions.state, css.piece, css.footing) is
'Entries for rain and night; none for night into a lit hex (8.3.7, 8.7.3, 17.0, css-10).';

create or replace function css._hard_entries(shot css.shot)
returns setof rulings.ledger_step
language plpgsql immutable rows 1
as $$
declare
  target css.piece;
  code text;
begin
  -- 8.3.1 g: any Hard Target in the hex, a tank weapon too (12.4.1)
  foreach target in array shot.targets loop
    if target.hard then
      code := least(code, target.code);
    end if;
  end loop;
  if code is not null and (shot.named).code is null then
    return next css._entry('8.3.1', null, 'adds', 'Hard Targets in the hex', code, -4, null, (shot.there).label);
  end if;
end
$$;

comment on function css._hard_entries(css.shot) is
'The entry of a shot at a hex with Hard Targets in it (8.3.1).';

-- Each part is asked only where it may speak: to begin a query costs more than to find that nothing holds.
create or replace function css._shot_entries(shot css.shot)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
declare
  here constant css.footing := shot.here;
  firer constant css.piece := shot.firer;
  charge constant text := shot.said ->> 'charge';
  mark text;
begin
  return query select * from css._defense_entries(shot);
  return query select * from css._help_entries(shot);
  if greatest(here.dg, firer.dg) > 0 or here.pinned or firer.pinned or here.barrage is not null then
    return query
    select *
    from css._fire_status_entries(
      shot.state, here, firer, shot.said -> 'read',
      -- css-61: a Barrage that the assaulters have just laid
      not (shot.said ? 'charge' and (shot.state).readings ->> 'css-61' = 'b')
    );
  end if;
  if shot.said ? 'charge' and here.barrage is not null then
    return next css._entry('8.7.2', null, 'passes', 'a Barrage on the hex that is assaulted', null, null, 'css-61', here.label);
  end if;
  if cardinality((shot.there).works) > 0 and shot.at_sea is null and not shot.said ? 'landing' then
    return query select * from css._work_entries(shot.there, '8.3.3', shot.said -> 'read');
  end if;
  if shot.at_sea is null then
    return query select * from css._ground_entries(shot);
    return query select * from css._hard_entries(shot);
  end if;
  if (shot.state).conditions ->> 'weather' = 'rain' or css._is_night((shot.state).conditions) then
    return query select * from css._weather_entries(shot.state, firer, shot.there);
  end if;
  -- 9.4, 9.6: against who assaults or charges
  if charge is not null then
    mark := css._cell(shot.said -> 'read', 'assault_marker_values', charge, 'defense');
    return next css._entry(
      '9.4', null, case when mark is null then 'unknown' else 'adds' end,
      case when mark is null then 'assault_marker_values' else format('a %s', replace(charge, '_', ' ')) end,
      charge, 2 * css._number(mark), null, here.label
    );
  end if;
end
$$;

comment on function css._shot_entries(css.shot) is
'Every modifier of a shot, in the order of 8.3.';

create or replace function css._fire_type(shot css.shot)
returns text
language plpgsql immutable
as $$
begin
  return (
    select
      case
        when own.type <> 'white' then own.type
        when shot.said ->> 'as' in ('ap', 'armor_piercing') then 'armor_piercing'
        when shot.said ->> 'as' in ('he', 'high_explosive') then 'high_explosive'
        -- 8.1: the firer chooses; at a Hard Target the blue row, at a hex the yellow one
        when (shot.named).code is not null or shot.at_sea is not null then 'armor_piercing'
        else 'high_explosive'
      end
    from (select coalesce((shot.weapon).fire_type, (shot.firer).fire_type) as type) as own
  );
end
$$;

comment on function css._fire_type(css.shot) is
'The row on which a shot is read: the weapon''s type, else the firer''s; of a white box the one that was chosen (8.1, 8.3.2).';

create or replace function css._shot_options(shot css.shot)
returns jsonb
language plpgsql stable
as $$
begin
  -- 8.3.1, css-60, css-19: who chooses the target unit, and what may be added to its Defense
  return (
    select jsonb_build_object(
      'target_options', coalesce(jsonb_agg(unit.code order by unit.posture = 'column', unit.code) filter (where unit.is_unit), '[]'),
      'target_alike', count(distinct coalesce(unit.defense, 0)) filter (where unit.is_unit) <= 1,
      'target_by', case
        when bool_or(unit.is_unit and unit.posture = 'deployed') or (shot.state).readings ->> 'css-60' = 'b' then 'defender'
        else 'firer'
      end,
      'all_in_column', not coalesce(bool_or(unit.is_unit and unit.posture = 'deployed'), false),
      'imposable', coalesce(
        jsonb_agg(jsonb_build_object('id', unit.code, 'kind', unit.kind) order by unit.code) filter (
          where unit.kind in ('support_weapon', 'leader', 'hero')
            and coalesce(unit.defense, 0) <> 0
            and ((shot.target_unit).code is null or css._belongs(shot.target_unit, unit))
        ),
        '[]'
      )
    )
    from unnest(shot.targets) as unit
    where shot.at_sea is null
  );
end
$$;

comment on function css._shot_options(css.shot) is
'What is to be chosen before a shot: whose Defense is used, by whom, and which weapons, leaders and heroes may be added.';

create or replace function css.fire(
  position_id bigint, shot jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
-- the plans take longer to make than to run: they are made once a session
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  aimed css.shot := css._shot(position_id, shot, conditions, policy);
  bars rulings.ledger_step[];
  entries rulings.ledger_step[];
  bar rulings.ledger_step;
  step rulings.ledger_step;
  halves integer := 0;
  untold boolean := false;
  sum integer;
  value integer;
begin
  bars := array(select told from css._firer_bars(aimed) as told);
  if cardinality(aimed.others) + cardinality(aimed.helpers) > 0 then
    bars := bars || array(select told from css._helper_bars(aimed) as told);
  end if;
  bars := bars || array(select told from css._target_bars(aimed) as told);
  if (aimed.firer).q is not null and (aimed.there).q is not null then
    bars := bars || array(select told from css._zone_bars(aimed) as told);
  end if;
  foreach step in array bars loop
    bar := case when bar.rule is null and step.effect = 'forbids' then step else bar end;
    return next step;
  end loop;
  if bar.rule is null then
    entries := array[css._entry(
      '3.2', null, 'starts', format('Fire Power of %s', (aimed.firer).code), (aimed.firer).code, 2 * (aimed.firer).fire,
      null, (aimed.here).label
    )] || array(select entry from css._shot_entries(aimed) as entry);
    foreach step in array entries loop
      halves := halves + coalesce(step.halves, 0);
      untold := untold or step.effect = 'unknown';
      return next step;
    end loop;
    sum := case when not untold then halves / 2 end;
  end if;
  value := sum;
  if sum > 8 then
    value := case (aimed.state).readings ->> 'css-3' when 'b' then 8 else sum end;
    return next css._entry('9.6.1', null, case when value < sum then 'caps' else 'passes' end,
      format('the value comes to %s', sum), null, null, 'css-3');
  end if;
  return next css._sum(
    coalesce(bar.rule, '8.3'),
    case when bar.rule is not null then 'refused' when value is null then 'open' else 'may fire' end,
    coalesce(bar.note, format('value %s', coalesce(value::text, 'not told'))),
    css._shot_facts(aimed, value) || jsonb_build_object('allowed', bar.rule is null, 'why', bar.note),
    (aimed.there).label
  );
end
$$;

create or replace function css._single_targets(shot css.shot)
returns text[]
language plpgsql stable
as $$
begin
  return case
    when shot.at_sea is null
      then array(
        select target.code from unnest(shot.targets) as target where target.is_unit and target.hard order by target.code
      )
    else array(
      select unit.code
      from public.unit
      where unit.position_id = (shot.state).position_id
        and unit.side <> (shot.firer).side
        and unit.attributes #>> '{zone,beach}' = (shot.there).label
        and unit.attributes #>> '{zone,run}' = shot.at_sea
        and css._is_unit(unit.kind)
        and case (shot.state).readings ->> 'css-30'
          when 'a' then true
          when 'c' then coalesce((unit.attributes ->> 'amphibious')::boolean, false)
          else false
        end
      order by unit.code
    )
  end;
end
$$;

comment on function css._single_targets(css.shot) is
'Who may be fired at by itself: a Hard Target in the hex (8.2, 22.3.2), at sea what css-30 tells apart.';

create or replace function css._shot_facts(shot css.shot, value integer)
returns jsonb
language plpgsql stable
as $$
begin
  return coalesce(css._shot_options(shot), '{}') || jsonb_build_object(
    'value', value,
    'type', css._fire_type(shot),
    'side', (shot.firer).side,
    'enemy', case (shot.firer).side when 'us' then 'japan' else 'us' end,
    'from', (shot.here).label,
    'hex', (shot.there).label,
    'inside', (shot.there).inside,
    'at_sea', shot.at_sea,
    'named', (shot.named).code,
    'target_unit', (shot.target_unit).code,
    'units', to_jsonb(array(select target.code from unnest(shot.targets) as target where target.is_unit)),
    'column', to_jsonb(array(
      select target.code from unnest(shot.targets) as target where target.is_unit and target.posture = 'column'
    )),
    'apart', to_jsonb(css._single_targets(shot)),
    'weapon', case when (shot.weapon).fire is not null then (shot.weapon).code end,
    'serves_once', case when css._serves_anywhere(shot.hero) then (shot.hero).code end,
    'sustained', (
      select min(unit.code)
      from public.unit
      cross join lateral (select css._shown(unit.attributes) as attributes) as weapon
      where unit.position_id = (shot.state).position_id
        and unit.q = (shot.firer).q
        and unit.r = (shot.firer).r
        and unit.kind = 'support_weapon'
        and unit.side = (shot.firer).side
        and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = (shot.firer).inside
        and coalesce((weapon.attributes ->> 'sustained_fire')::boolean, false)
        and css._serves(weapon.attributes, (shot.firer).attributes)
    ),
    'sustaining', (shot.here).sustaining,
    'spent', (shot.here).spent,
    'flame', shot.flame,
    'terrain', (shot.there).terrain,
    'cost', css._cost((shot.state).conditions, shot.firer || shot.others)
  );
end
$$;

comment on function css._shot_facts(css.shot, integer) is
'What a procedure is told of a shot beside its value.';

comment on function css.fire(bigint, jsonb, jsonb, jsonb) is
'Whether a shot may be fired, and its value: an entry for every modifier, the verdict last (8.2, 8.3).
Its facts have value and type, who chooses the target unit and what may be added, and what the result falls on.';

create or replace function css.fire_result(
  position_id bigint, row_of text, value integer, die integer, read jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  result text := case
    when die = 9 then 'miss'
    when die = 0 then 'hit'
    when value is null then null
    when die <= value then 'hit'
    else 'miss'
  end;
  code text;
begin
  return next css._entry(
    '8.4', null, coalesce(result, 'open'),
    case
      when die = 9 then 'a 9 always misses'
      when die = 0 then 'a 0 always takes the 0 cell'
      else format('%s against %s', die, coalesce(value::text, 'a value that is not told'))
    end
  );
  if result = 'hit' then
    code := replace(css._cell(read, 'combat_results_table', row_of, die::text), ' ', '');
    if code is null then
      return next css._entry('8.4', null, 'unknown', 'combat_results_table');
    end if;
  end if;
  return next css._sum(
    '8.5', coalesce(result, 'open'), coalesce(code, result, 'not told'),
    jsonb_build_object('result', result, 'crt', code) || css._decoded(code)
  );
end
$$;

create or replace function css._decoded(code text)
returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'dg', case
    when code ~* 'DG'
      then coalesce(
        nullif(substring(code from '(?i)(\d+)DG'), '')::integer, nullif(substring(code from '(?i)DG(\d+)'), '')::integer, 1
      )
    else 0
  end,
  'suppressed', coalesce(code ~ '(^|/)S(/|$)', false),
  'pinned', coalesce(code ~ '(^|/)P(/|$)', false),
  'rout', case when code ~ '(^|/)R\**(/|$)' then length(regexp_replace(code, '[^*]', '', 'g')) end,
  'eliminated', coalesce(code ~ '(^|/)E(/|$)', false)
);

comment on function css._decoded(text) is
'A code of the results table by its parts: DGs, Suppressed, stars of a rout check, eliminated (8.5).';

comment on function css.fire_result(bigint, text, integer, integer, jsonb) is
'What a die makes of a shot of this value: hit or miss, and the cell of the results table, as far as it is told (8.4, 8.5).';

create or replace function css.flame(position_id bigint, terrain text, die integer, conditions jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 8.8: by the die alone, hit or miss; a hot day takes one off
  select entry.*
  from css._entry('8.8', null, '-1', 'a hot day', null, -2) as entry
  where conditions ->> 'weather' = 'hot'
  union all
  select (css._sum(
    '8.8', case when burns.so then 'catches fire' else 'does not burn' end,
    format('%s, on %s', replace(terrain, '_', ' '), die), jsonb_build_object('burns', burns.so)
  )).*
  from (
    select
      die - case when conditions ->> 'weather' = 'hot' then 1 else 0 end <= case
        when terrain in ('sugar_cane', 'brush') then 2
        when terrain in ('buildings', 'town') then 0
        else -2
      end as so
  ) as burns
$$;

comment on function css.flame(bigint, text, integer, jsonb) is
'Whether a hex catches fire from a Flamethrower attack with this die (8.8).';

create or replace function css.fire_chances(position_id bigint, value integer, harms boolean)
returns jsonb
language sql immutable parallel safe
-- 8.4: a 0 always hits and a 9 never; where nobody can be harmed nothing hits
return case
  when not harms then '{"no_effect": "1/1"}'::jsonb
  when value is not null
    then jsonb_build_object(
      'hit', (array['1/10', '1/5', '3/10', '2/5', '1/2', '3/5', '7/10', '4/5', '9/10'])[least(greatest(value, 0), 8) + 1],
      'miss', (array['9/10', '4/5', '7/10', '3/5', '1/2', '2/5', '3/10', '1/5', '1/10'])[least(greatest(value, 0), 8) + 1]
    )
end;

comment on function css.fire_chances(bigint, integer, boolean) is
'The chance of a fire of this value to hit, as fractions in lowest terms; null where the value is not told (8.4).';
