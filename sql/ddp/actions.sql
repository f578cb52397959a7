-- needs: ddp/scene.sql, ddp/japanese_communication.sql, rulings/step.sql, charts/cells.sql
-- What a Japanese position does by a letter of the fire card in ddp (D-Day at Peleliu): 12.0, 13.2, 16.0, 18.35.
--
-- `ddp.situation` finds the row of the Japanese Action Chart and its action; whoever then has a goal or a target
-- asks `ddp.goals` (sql/ddp/goals.sql) or `ddp.strike` (sql/ddp/strikes.sql).

create or replace function ddp._linked(state positions.state, linked text[])
returns text[]
language plpgsql stable
as $$
#variable_conflict use_variable
begin
  -- 11.22: as it was when the Fire Phase began, where that is told
  return coalesce(
    linked,
    array(
      select spot.label
      from ddp._japanese_communication(state) as spot
      where spot.in_communication
      order by spot.label
    )
  );
end
$$;

comment on function ddp._linked(positions.state, text[]) is
'The position hexes in Japanese communication: as it was told, else as it is now (11.22).';

drop type if exists ddp.plight cascade;
create type ddp.plight as (
  place text,
  color text,
  held boolean,
  awake boolean,
  tank boolean,
  stance boolean,
  targets boolean,
  near integer,
  guns boolean,
  mountaintop boolean,
  free text array,
  cut_off text array
);

comment on type ddp.plight is
'The situation of a position: held, by somebody undisrupted, by a tank, US units in its field, how near the nearest is.';
comment on column ddp.plight.free is 'Unoccupied hexes in communication with a US unit within three hexes, the lowest number first';
comment on column ddp.plight.cut_off is 'Unoccupied hexes out of communication with a US unit within three hexes';

create or replace function ddp._plight(scene ddp.scene, place text, linked text[])
returns ddp.plight
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  found ddp.plight;
begin
  select
    place,
    min(site.color),
    bool_or(site.held is not null),
    min(site.near),
    bool_or(site.guns),
    bool_or(site.mountaintop),
    array_agg(site.label order by site.number, site.id, site.label)
      filter (where site.held is null and not site.taken and site.near <= 3 and site.label = any(linked)),
    array_agg(site.label order by site.number, site.id, site.label)
      filter (where site.held is null and not site.taken and site.near <= 3 and site.label <> all(linked))
  into
    found.place, found.color, found.held, found.near, found.guns, found.mountaintop, found.free, found.cut_off
  from unnest(scene.sites) as site
  where site.place = place;
  select
    coalesce(bool_or(not holder.disrupted and not holder.stance), false),
    coalesce(bool_and(holder.tank) filter (where not holder.stance), false),
    coalesce(bool_and(holder.stance), false)
  into found.awake, found.tank, found.stance
  from unnest(scene.holders) as holder
  where holder.place = place;
  found.targets := exists (
    select
    from public.map_feature as feature
    inner join public.map_feature_hex as dot on dot.feature = feature.id and dot.role in ('intense', 'steady')
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
    where feature.map_id = (scene.state).map_id
      and feature.code = place
      and not found.awake
  ) or exists (
    select
    from unnest(scene.dots) as dot
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
    where dot.place = place
  );
  return found;
end
$$;

comment on function ddp._plight(ddp.scene, text, text[]) is
'The situation of a position, from which its row of the Japanese Action Chart follows (12.0).';

create or replace function ddp._chart_action(conditions jsonb, plight ddp.plight, letter text)
returns text
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  row_key text := case
    when plight.held and plight.tank then 'tank'
    when plight.held and plight.targets then 'us_in_field'
    when plight.held then 'no_us_in_field'
    else 'unoccupied'
  end;
begin
  if ddp._ridge(conditions) then
    if not plight.held then
      return 'none';
    end if;
    row_key := 'bnr/' || row_key;
  end if;
  return coalesce(
    (
      select nullif(cell.value, '-')
      from charts.cell(
        'ddp', 'japanese_action_summary',
        row_key || case
          when ddp._ridge(conditions) and plight.mountaintop then '/mountaintop'
          when plight.guns and not ddp._ridge(conditions) then '/artillery_position'
          else ''
        end,
        coalesce(letter, 'none')
      ) as cell
    ),
    (
      select cell.value
      from charts.cell('ddp', 'japanese_action_summary', row_key, coalesce(letter, 'none')) as cell
    )
  );
end
$$;

comment on function ddp._chart_action(jsonb, ddp.plight, text) is
'The cell of the Japanese Action Chart for a situation and a letter in force; null is no letter (chart, 12.0, 18.35).';

create or replace function ddp._situation_steps(state positions.state, plight ddp.plight, letter text, printed text, action text)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    entry.rule,
    null::text,
    plight.place,
    entry.effect,
    entry.note,
    entry.point,
    null::text,
    null::integer,
    null::jsonb
  from (
    values
    (
      1, printed is not null and letter is null and not (printed = 'M' and ddp._overnight(state.conditions)), '12.0',
      'no letter', format('%s is not in force yet', printed), null
    ),
    (
      2, printed = 'M' and letter is null and ddp._overnight(state.conditions), '16.0', 'no letter',
      'at night an M is no letter', null
    ),
    (3, letter is not null, '12.0', letter, format('the letter %s is in force', letter), null),
    (
      4, plight.held and not plight.awake and not plight.tank, '6.4', 'none',
      'whoever is there is disrupted and does nothing', null
    ),
    (
      5, plight.held and not plight.awake and plight.tank, '13.2', action,
      case when action = 'recover' then 'a disrupted tank first loses its marker, and does nothing else'
        else 'a disrupted tank loses its marker when all fire is done' end, 'ddp-58'
    ),
    (6, plight.held and plight.awake and plight.targets, '12.0', 'us in field', 'US units are in its field of fire', null),
    (
      7, plight.held and plight.awake and not plight.targets, '12.0', 'no us in field',
      'no US unit is in its field of fire', null
    ),
    (
      8, not plight.held and letter in ('M', 'R', 'A') and plight.free is null and not ddp._ridge(state.conditions), '12.0',
      'none', 'it is empty, and no hex of it is free, in communication and within three hexes of a US unit', null
    ),
    (
      9, not plight.held and letter = 'A' and plight.free is not null and not plight.targets, '12.9', 'none',
      'no US unit is in its field of fire', 'ddp-37'
    ),
    (
      10, not plight.held and letter = 'I' and plight.cut_off is null and not ddp._ridge(state.conditions), '12.10',
      'none', 'no hex of it is free, out of communication and within three hexes of a US unit', null
    ),
    (11, not plight.held and letter is null, '12.0', 'none', 'it is empty, and acts by a letter alone', null),
    (12, not plight.held and ddp._ridge(state.conditions), '18.35', 'none', 'an unoccupied position does nothing', null),
    (
      13, plight.awake and letter = 'A' and plight.guns and not plight.tank and not ddp._ridge(state.conditions), '12.8',
      'artillery position', 'it has guns, and does not assault', null
    ),
    (
      14, ddp._overnight(state.conditions) and plight.awake and letter = 'A' and plight.guns and not plight.targets,
      '16.0', 'none', 'at night the artillery action is no action', null
    ),
    (
      15, ddp._ridge(state.conditions) and plight.awake and letter = 'P' and not plight.targets, '18.35', action,
      'a patrol without targets, by the chart of Bloody Nose Ridge', 'ddp-20'
    ),
    (
      16, ddp._ridge(state.conditions) and plight.awake and letter = 'M' and plight.targets, '18.35', action,
      'fire on an M, by the chart of Bloody Nose Ridge', 'ddp-21'
    )
  ) as entry (n, holds, rule, effect, note, point)
  where entry.holds
  order by entry.n
$$;

comment on function ddp._situation_steps(positions.state, ddp.plight, text, text, text) is
'Every rule that speaks when a position is checked for an action (12.0, 13.2, 16.0, 18.35).';

create or replace function ddp.situation(
  position_id bigint,
  place text,
  printed text default null,
  linked text[] default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  state positions.state := scene.state;
  reading jsonb := (scene.state).readings;
  connected text[] := ddp._linked(state, linked);
  plight ddp.plight := ddp._plight(scene, place, connected);
  letter text := case when printed = any(ddp._letters((scene.state).conditions)) then printed end;
  action text;
begin
  action := case
    when plight.stance then 'none'
    when plight.held and not plight.awake and plight.tank
      then case when reading ->> 'ddp-58' = 'b' then 'none' else 'recover' end
    when plight.held and not plight.awake then 'none'
    when not plight.held and letter in ('M', 'R') and plight.free is null then 'none'
    when not plight.held and letter = 'A'
      and (plight.free is null or not plight.targets or reading ->> 'ddp-37' = 'b') then 'none'
    when not plight.held and letter = 'I' and plight.cut_off is null then 'none'
    else ddp._chart_action(state.conditions, plight, letter)
  end;
  action := case
    when action = 'artillery_fire' and ddp._overnight(state.conditions) then 'none'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'P' and not plight.targets
      and reading ->> 'ddp-20' = 'b' then 'patrol'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'M' and plight.targets
      and reading ->> 'ddp-21' = 'b' then 'machine_guns'
    else action
  end;
  return query
  select * from ddp._situation_steps(state, plight, letter, printed, action);
  return next row(
    '12.0', null, place, action,
    case when action = 'none' then 'it does nothing' else format('its action is %s', replace(action, '_', ' ')) end,
    null, null, null,
    to_jsonb(plight) || jsonb_build_object(
      'action', action,
      'letter', letter,
      'row', case
        when plight.held and plight.tank then 'tank'
        when plight.held and plight.targets then 'us_in_field'
        when plight.held then 'no_us_in_field'
        else 'unoccupied'
      end,
      'linked', connected,
      'holders', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'unit', holder.code, 'label', holder.label, 'disrupted', holder.disrupted, 'tank', holder.tank,
              'depth', holder.depth, 'fortification', holder.fortification, 'in_communication', holder.label = any(connected)
            )
            order by holder.q, holder.label, holder.fortification
          ),
          '[]'
        )
        from unnest(scene.holders) as holder
        where holder.place = place
          and not holder.stance
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp.situation(bigint, text, text, text[], jsonb, jsonb) is
'The row of the Japanese Action Chart in which a position finds itself, and its action by a letter; the verdict last.';

create or replace function ddp.checks(
  position_id bigint, colors text[], linked text[] default null, conditions jsonb default null, policy jsonb default null
)
returns table (
  place text, color text, n integer, west integer, label text, near integer, held boolean, connected boolean
)
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  state positions.state;
begin
  select * into state from positions.state(position_id, conditions, policy);
  return query
  -- 12.0: every occupied position, and every other within three hexes of a US unit
  select
    site.place,
    min(site.color),
    array_position(colors, min(site.color)),
    min(site.west),
    min(site.label),
    min(site.near),
    bool_or(site.held is not null),
    coalesce(bool_or(site.label = any(linked)), false)
  from ddp._sites(state) as site
  where site.color = any(colors)
    and not site.provisional
  group by site.place
  having bool_or(site.held is not null)
    or (min(site.near) <= 3 and not ddp._ridge(state.conditions))
  order by array_position(colors, min(site.color)), min(site.west), min(site.label);
end
$$;

comment on function ddp.checks(bigint, text[], text[], jsonb, jsonb) is
'The positions that a fire card checks, color by color and from west to east (12.0).';

create or replace function ddp.firing_later(
  position_id bigint,
  places text[],
  letters jsonb,
  linked text[] default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (place text, color text, action text, extra integer, tank boolean)
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  in_force text[] := ddp._letters((scene.state).conditions);
  asked text;
  plight ddp.plight;
begin
  foreach asked in array places loop
    plight := ddp._plight(scene, asked, coalesce(linked, '{}'));
    if plight.held and plight.awake and plight.targets then
      place := asked;
      color := plight.color;
      tank := plight.tank;
      action := ddp._chart_action(
        (scene.state).conditions, plight,
        case when letters ->> plight.color = any(in_force) then letters ->> plight.color end
      );
      select count(*) into extra
      from unnest(scene.holders) as holder
      where action = 'resupply'
        and holder.place = asked
        and not holder.disrupted
        and not holder.depth
        and not holder.tank
        and holder.label = any(linked);
      if action in ('fire', 'machine_guns', 'resupply', 'multiple_fire', 'overrun', 'fire_or_advance') then
        return next;
      end if;
    end if;
  end loop;
end
$$;

comment on function ddp.firing_later(bigint, text[], jsonb, text[], jsonb, jsonb) is
'Which of the positions that a card has yet to check would fire now, for the hits of the whole card (6.34).';

create or replace function ddp.reserve_hexes(
  position_id bigint,
  color text,
  letter text,
  linked text[],
  conditions jsonb default null,
  policy jsonb default null
)
returns table (label text, near integer)
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  if letter <> all(ddp._letters((scene.state).conditions)) or ddp._ridge((scene.state).conditions) then
    return;
  end if;
  return query
  select
    site.label,
    site.near
  from (select distinct site.place from unnest(scene.sites) as site where site.color = color and not site.provisional) as place
  cross join lateral ddp._plight(scene, place.place, linked) as one
  cross join lateral unnest(case when letter = 'I' then one.cut_off else one.free[1:1] end) as wanted (label)
  inner join unnest(scene.sites) as site on site.label = wanted.label
  where not one.held
  order by site.near, site.label;
end
$$;

comment on function ddp.reserve_hexes(bigint, text, text, text[], jsonb, jsonb) is
'The position hexes of a color that would muster, reinforce or infiltrate, the closest to US units first (12.22, 12.52, 12.102).';
